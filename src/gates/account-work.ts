import type { Clock } from "../../domain/ports/clock.ts";

const SECOND_MS = 1_000;

export class AccountWork {
  readonly #perWindow: number;
  readonly #clock: Clock;
  readonly #byAccount = new Map<string, number>();
  readonly #windowMs: number;
  #window = 0;

  constructor(perWindow: number, clock: Clock, windowMs = SECOND_MS) {
    this.#perWindow = perWindow;
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** True while the account has work left. A check's work is known only afterwards, so the last may exceed the rest. */
  has(account: string): boolean {
    return this.#usedBy(account) < this.#perWindow;
  }

  add(account: string, units: number): void {
    this.#byAccount.set(account, this.#usedBy(account) + units);
  }

  /** Whole seconds until the next window, in which the account has its work again; at least 1. */
  resetS(): number {
    return Math.ceil((this.#windowMs - (this.#clock.now() % this.#windowMs)) / SECOND_MS);
  }

  #usedBy(account: string): number {
    const window = Math.floor(this.#clock.now() / this.#windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#byAccount.clear();
    }
    return this.#byAccount.get(account) ?? 0;
  }
}
