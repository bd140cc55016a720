import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";

/** By then, what another process has admitted is found without a hint. */
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

  /** The clock may be set meanwhile, so the timer is never longer than a poll. `atMs` is in ms since 1970. */
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
