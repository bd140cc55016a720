import type { Clock } from "../../domain/ports.ts";

const SECOND_MS = 1_000;

/** The work of each account within the current second, in units of the meter. */
export class AccountWork {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #byAccount = new Map<string, number>();
  #second = 0;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Whether anything is left to the account: work is known afterwards, so the last one may go beyond the limit. */
  has(account: string): boolean {
    return this.#usedBy(account) < this.#perSecond;
  }

  add(account: string, units: number): void {
    this.#byAccount.set(account, this.#usedBy(account) + units);
  }

  #usedBy(account: string): number {
    const second = Math.floor(this.#clock.now() / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#byAccount.clear();
    }
    return this.#byAccount.get(account) ?? 0;
  }
}
