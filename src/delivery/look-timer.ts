import type { Clock } from "../../domain/ports/clock.ts";
import { QUIET_TIMES } from "../following/quiet-poll.ts";
import type { Timers } from "../following/timers.ts";

/** The time between two looks at the disk, so that what another process has admitted is found soon. */
export const POLL_MS = 1_000;
/** The longest time, for a process in which nothing was to be done for a while. */
const POLL_MS_MAX = QUIET_TIMES * POLL_MS;
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

  /** `atMs` is in ms since 1970. The clock may be set meanwhile, so the timer never runs for more than `POLL_MS_MAX`. */
  lookAt(atMs: number): void {
    if (!this.#isRunning || atMs >= this.#at) return;
    this.#cancel?.();
    this.#at = atMs;
    this.#cancel = this.#timers.after(Math.max(0, Math.min(atMs - this.#clock.now(), POLL_MS_MAX)), () => {
      this.#cancel = null;
      this.#at = NEVER;
      this.#look();
    });
  }

  lookIn(ms: number): void {
    this.lookAt(this.#clock.now() + ms);
  }
}
