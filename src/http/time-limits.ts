import { Deadlines, type Timed } from "../../infra/http/deadlines.ts";
import type { OrPromise } from "../streams/or-promise.ts";

/** Limits (ms) are rounded up to a multiple of this, because waits with different limits share no timer. */
const GRAIN_MS = 50;

/** Limits the time of many waits at once. A timer for each of them would cost more than most of the waits. */
export class TimeLimits {
  readonly #deadlines = new Deadlines();

  /** Resolves as `work` does, or with `late` if that takes longer than `limitMs`. `ended` is called once `work` ends. */
  within<T, Late>(limitMs: number, work: OrPromise<T>, late: Late, ended?: () => void): OrPromise<T | Late> {
    if (!(work instanceof Promise)) {
      ended?.();
      return work;
    }
    const wholeMs = Math.ceil(limitMs / GRAIN_MS) * GRAIN_MS;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const expire = (): void => {
        isLate = true;
        resolve(late);
      };
      const dueAt = performance.now() + wholeMs;
      const timed: Timed = { limitMs: wholeMs, dueAt, earlier: null, later: null, expire, giveUp: expire };
      const end = (): void => {
        ended?.();
        if (!isLate) this.#deadlines.remove(timed);
      };
      this.#deadlines.add(timed);
      work.then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }
}
