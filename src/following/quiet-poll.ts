/** Looks in a row that found nothing, after which a follower looks more rarely: each look wakes an idle process. */
const QUIET_LOOKS = 5;
/** How many times longer the pauses are then. A hint ends them at once; only a hint that was lost waits so long. */
export const QUIET_TIMES = 5;

/** The time between two looks of a follower that is woken by hints, which may be lost. */
export class QuietPoll {
  readonly #pollMs: number;
  #looks = 0;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  get ms(): number {
    return this.#looks < QUIET_LOOKS ? this.#pollMs : QUIET_TIMES * this.#pollMs;
  }

  foundNothing(): void {
    this.#looks += 1;
  }

  /** A hint came, or a look has found something. */
  isBusy(): void {
    this.#looks = 0;
  }
}
