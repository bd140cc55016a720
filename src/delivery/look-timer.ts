import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";

/** The longest time between two looks at the disk, so that what another process has admitted is found soon. */
export const POLL_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

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

  /** `atMs` is in ms since 1970. The clock may be set meanwhile, so the timer never runs for more than `POLL_MS`. */
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
