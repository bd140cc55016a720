import type { Clock } from "../../domain/ports/clock.ts";

/** Bodies up to this size are not delayed, because what they cost hardly depends on their size. */
export const SMALL_BYTES = 64 * 1_024;
const BURST_MS = 500;
const PARTIES_MAX = 10_000;

type LargeBody = {
  readonly party: string;
  readonly bytes: number;
  readonly bytesPerS: number;
  readonly limitMs: number;
};

export class ByteRate {
  readonly #clock: Clock;
  /** Until when (ms since 1970) a party has used up its rate; from `BURST_MS` before that, its bodies do not wait. */
  readonly #paidAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns how long the body has to wait, in ms; null if that is over `limitMs`, and then the body is not counted. */
  turn({ party, bytes, bytesPerS, limitMs }: LargeBody): number | null {
    if (bytes <= SMALL_BYTES) return 0;
    const now = this.#clock.now();
    const from = Math.max(this.#paidAt.get(party) ?? 0, now);
    const waitMs = Math.max(0, from - now - BURST_MS);
    if (waitMs > limitMs) return null;
    this.#forget(now);
    this.#paidAt.set(party, from + (bytes / bytesPerS) * 1_000);
    return waitMs;
  }

  #forget(now: number): void {
    if (this.#paidAt.size < PARTIES_MAX) return;
    for (const [party, at] of this.#paidAt) if (at <= now) this.#paidAt.delete(party);
  }
}
