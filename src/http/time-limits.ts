import { Deadlines, type Timed } from "../../infra/http/deadlines.ts";

/** Limits (ms) are rounded up to a multiple of this, because waits with different limits share no timer. */
const GRAIN_MS = 50;

/** Limits the time of many waits at once. A timer for each of them would cost more than most of the waits. */
export class TimeLimits {
  readonly #deadlines = new Deadlines();

  /** Resolves as `work` does, or with `late` if that takes longer than `limitMs`. */
  within<T, Late>(limitMs: number, work: Promise<T>, late: Late): Promise<T | Late> {
    const wholeMs = Math.ceil(limitMs / GRAIN_MS) * GRAIN_MS;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const expire = (): void => {
        isLate = true;
        resolve(late);
      };
      const dueAt = performance.now() + wholeMs;
      const timed: Timed = { limitMs: wholeMs, dueAt, earlier: null, later: null, expire, giveUp: expire };
      const inTime = (): void => {
        if (!isLate) this.#deadlines.remove(timed);
      };
      this.#deadlines.add(timed);
      work.then(
        (value) => {
          inTime();
          resolve(value);
        },
        (error: unknown) => {
          inTime();
          reject(error);
        },
      );
    });
  }
}
