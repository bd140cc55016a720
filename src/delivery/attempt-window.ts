import { type AttemptCounts, WINDOW_MS } from "../../domain/endpoint/circuit.ts";

type EndedAttempt = {
  readonly startedAt: number;
  readonly at: number;
  readonly succeeded: boolean;
};

const SLOT_MS = 10_000;
const SLOTS = WINDOW_MS / SLOT_MS;

type Slot = { readonly slot: number; attempts: number; failed: number };

const iso = (ms: number): string => new Date(ms).toISOString();

/** An attempt that began long before the recovery began on a clock that was set back, so it counts as later. */
const beganBefore = (startedAt: number, wellAt: number): boolean =>
  startedAt < wellAt && wellAt - startedAt < WINDOW_MS;

/** Counts this node's attempts to one endpoint since it recovered last; the endpoint's stream decides. */
export class AttemptWindow {
  #wellAt: string | null = null;
  #slots: Slot[] = [];
  #attempts = 0;
  #failed = 0;
  #consecutiveFailures = 0;
  #failingSince: string | null = null;
  #lastFailureAt: string | null = null;

  /** Returns null for an attempt from before the last recovery (`wellAt`), which says nothing about the time since. */
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
    // After the clock was set back, attempts count into the newest slot.
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
