import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";

/** What another process admitted is found by then, unless a look is asked for before. */
export const POLL_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

/** Looks at the disk at the earliest of the times that were asked for since the last look, between `start` and `stop`. */
export class LookTimer {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #look: () => void;
  #isRunning = false;
  #cancel: (() => void) | null = null;
  #at = NEVER;

  constructor(clock: Clock, timers: Timers, look: () => void) {
    this.#clock = clock;
    this.#timers = timers;
    this.#look = look;
  }

  start(): void {
    this.#isRunning = true;
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
  }

  /** At a time in ms since 1970, or a poll's interval from now if that is earlier: the clock may be set in between. */
  lookAt(atMs: number): void {
    if (!this.#isRunning || atMs >= this.#at) return;
    this.#cancel?.();
    this.#at = atMs;
    this.#cancel = this.#timers.after(Math.max(0, Math.min(atMs - this.#clock.now(), POLL_MS)), () => {
      this.#cancel = null;
      this.#at = NEVER;
      this.#look();
    });
  }

  lookIn(ms: number): void {
    this.lookAt(this.#clock.now() + ms);
  }
}
