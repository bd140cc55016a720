import { type AttemptCounts, WINDOW_MS } from "../../domain/endpoint/circuit.ts";

/** One attempt that has ended; times in ms since 1970. */
type EndedAttempt = {
  readonly startedAt: number;
  readonly at: number;
  readonly succeeded: boolean;
};

/** The window slides in steps of a thirtieth, which costs thirty small numbers an endpoint. */
const SLOT_MS = 10_000;
const SLOTS = WINDOW_MS / SLOT_MS;

type Slot = { readonly slot: number; attempts: number; failed: number };

const iso = (ms: number): string => new Date(ms).toISOString();

/** If the difference is longer than any attempt lasts, the attempt began after the recovery, on a clock that was set back. */
const beganBefore = (startedAt: number, wellAt: number): boolean =>
  startedAt < wellAt && wellAt - startedAt < WINDOW_MS;

/** Counts the attempts that this node made to one endpoint since it recovered last. Only the endpoint's stream decides. */
export class AttemptWindow {
  /** The recovery since which it counts; null before any. */
  #wellAt: string | null = null;
  /** Oldest first. */
  #slots: Slot[] = [];
  #attempts = 0;
  #failed = 0;
  #consecutiveFailures = 0;
  #failingSince: string | null = null;
  #lastFailureAt: string | null = null;

  /** Null if the attempt began before the endpoint's last recovery (`wellAt`), and so says nothing about its health since. */
  count(wellAt: string | null, ended: EndedAttempt): AttemptCounts | null {
    if (wellAt !== null && beganBefore(ended.startedAt, Date.parse(wellAt))) return null;
    if (wellAt !== this.#wellAt) this.#restart(wellAt);
    this.#add(ended);
    return {
      consecutiveFailures: this.#consecutiveFailures,
      failingSince: this.#failingSince,
      lastFailureAt: this.#lastFailureAt,
      attempts: this.#attempts,
      failed: this.#failed,
    };
  }

  #restart(wellAt: string | null): void {
    this.#wellAt = wellAt;
    this.#slots = [];
    this.#attempts = 0;
    this.#failed = 0;
    this.#consecutiveFailures = 0;
    this.#failingSince = null;
    this.#lastFailureAt = null;
  }

  #add({ at, succeeded }: EndedAttempt): void {
    const slot = this.#slotAt(at);
    const failed = succeeded ? 0 : 1;
    slot.attempts += 1;
    slot.failed += failed;
    this.#attempts += 1;
    this.#failed += failed;
    if (succeeded) {
      this.#consecutiveFailures = 0;
      this.#failingSince = null;
      return;
    }
    this.#consecutiveFailures += 1;
    this.#lastFailureAt = iso(at);
    this.#failingSince ??= this.#lastFailureAt;
  }

  #slotAt(ms: number): Slot {
    const slot = Math.floor(ms / SLOT_MS);
    this.#slide(slot - SLOTS + 1);
    const newest = this.#slots.at(-1);
    // A clock that was set back counts into the newest slot there is.
    if (newest !== undefined && newest.slot >= slot) return newest;
    const next = { slot, attempts: 0, failed: 0 };
    this.#slots.push(next);
    return next;
  }

  #slide(oldest: number): void {
    for (let [first] = this.#slots; first !== undefined && first.slot < oldest; [first] = this.#slots) {
      this.#slots.shift();
      this.#attempts -= first.attempts;
      this.#failed -= first.failed;
    }
  }
}
