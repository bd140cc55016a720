import type { Settle } from "./ledger-turn.ts";

/** Settlements wait this many ms for an append that they can be part of. Until then their places count as open. */
const SETTLE_MS = 1_000;
/** While the log is away, settlements are tried again at most this often (ms). */
const RETRY_MS = 100;
/** So many at once that their record stays far below the limit of an append. */
const AT_ONCE_MAX = 1_000;

export type DueSettlements = {
  readonly commands: readonly Settle[];
  /** When the oldest is due, by `performance.now()`. */
  readonly dueAt: number;
};

/** A ledger's settlements that are still to be recorded. `record` is called when the oldest is due. */
export class Settlements {
  readonly #record: () => void;
  readonly #waiting: Settle[] = [];
  #timer: NodeJS.Timeout | null = null;
  #dueAt = 0;

  constructor(record: () => void) {
    this.#record = record;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(command: Settle): void {
    if (this.isEmpty) this.#dueAt = performance.now() + SETTLE_MS;
    this.#waiting.push(command);
    this.#setTimer();
  }

  take(): DueSettlements {
    const commands = this.#waiting.splice(0, AT_ONCE_MAX);
    if (this.isEmpty && this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    return { commands, dueAt: this.#dueAt };
  }

  /** They are then recorded when they would have been, as if they had not been taken. */
  putBack({ commands, dueAt }: DueSettlements): void {
    if (commands.length === 0) return;
    this.#waiting.unshift(...commands);
    this.#dueAt = dueAt;
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.isEmpty || this.#timer !== null) return;
    const record = (): void => {
      this.#timer = null;
      this.#record();
      // `take` clears it again, unless the log is away.
      this.#setTimer();
    };
    this.#timer = setTimeout(record, Math.max(RETRY_MS, this.#dueAt - performance.now())).unref();
  }
}
