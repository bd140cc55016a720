import { catchUpRate } from "../../domain/endpoint/circuit.ts";
import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../following/timers.ts";

/** An endpoint gets this many requests at a time until its first attempt has read its settings. */
const FIRST_CONCURRENCY = 1;
/** A turn missed by less is made up for: timers are late and last whole ms, so a high rate would never be reached. */
const SLACK_MS = 20;
/** The clock may be set while a timer runs, so it is read again after this time. */
const TIMER_MAX_MS = 1_000;

/** Requests a second: the lower of the endpoint's limit and the catch-up rate after an outage; null for no limit. */
const rateOf = ({ settings, wellAt }: PresentEndpoint, nowMs: number): number | null => {
  const catchUp = catchUpRate(wellAt, nowMs);
  const { rate_per_second: own } = settings;
  return own === null || catchUp === null ? (own ?? catchUp) : Math.min(own, catchUp);
};

export class Pace {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #notBefore = 0;
  #isWaiting = false;

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** True counts as the start of a request. `wake` is called later if only the rate refuses it. */
  mayBegin(endpoint: PresentEndpoint | null, running: number, wake: () => void): boolean {
    if (endpoint === null) return running < FIRST_CONCURRENCY;
    if (running >= endpoint.settings.concurrency) return false;
    const now = this.#clock.now();
    const rate = rateOf(endpoint, now);
    if (rate === null) return true;
    // `#notBefore` is that far ahead only because the clock was set back, or because the rate was lower before.
    if (this.#notBefore - now > 1_000 / rate + SLACK_MS) this.#notBefore = now;
    if (this.#notBefore > now) {
      this.#wakeLater(this.#notBefore - now, wake);
      return false;
    }
    const turn = now - this.#notBefore <= SLACK_MS ? this.#notBefore : now;
    this.#notBefore = turn + 1_000 / rate;
    return true;
  }

  #wakeLater(ms: number, wake: () => void): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#timers.after(Math.min(ms, TIMER_MAX_MS), () => {
      this.#isWaiting = false;
      wake();
    });
  }
}
