import type { Clock } from "../../domain/ports/clock.ts";

/** Bodies up to this size are not held back: what they cost is mostly not their bytes. */
const SMALL_BYTES = 64 * 1_024;
/** Hashing, reading and storing a megabyte takes some 20 ms of the thread that answers everybody: an account has a sixth of it. */
const BYTES_PER_S = 8 * 1_048_576;
/** Large bodies that come at once are taken as they come, up to what this time allows. */
const BURST_MS = 500;
/** Parties that are remembered; those whose turn has come are forgotten. */
const PARTIES_MAX = 10_000;

/** How fast the large bodies of one party are worked on. */
export class ByteRate {
  readonly #clock: Clock;
  /** When the bytes that each party has sent are paid for; ms since 1970. */
  readonly #paidAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** After how many ms the body's turn comes; null where that is more than `limitMs`, and then it is not counted. */
  turn(party: string, bytes: number, limitMs: number): number | null {
    if (bytes <= SMALL_BYTES) return 0;
    const now = this.#clock.now();
    const from = Math.max(this.#paidAt.get(party) ?? 0, now);
    const waitMs = Math.max(0, from - now - BURST_MS);
    if (waitMs > limitMs) return null;
    this.#forget(now);
    this.#paidAt.set(party, from + (bytes / BYTES_PER_S) * 1_000);
    return waitMs;
  }

  #forget(now: number): void {
    if (this.#paidAt.size < PARTIES_MAX) return;
    for (const [party, at] of this.#paidAt) if (at <= now) this.#paidAt.delete(party);
  }
}
