import type { Clock } from "../../domain/ports/clock.ts";

/** Smaller bodies are not delayed: their cost hardly depends on their size. */
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
  /** For each party, the time (ms since 1970) from which its next body is not delayed. */
  readonly #paidAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The delay in ms; null if it would exceed `limitMs`, and then the body is not counted. */
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
