/** Waits end up to so many milliseconds late, because one timer looks after all of them. */
const GRAIN_MS = 50;

type Deadline = { readonly at: number; readonly onOver: () => void };

/** Limits the time of many waits at once. A timer for each of them would cost more than most of the waits. */
export class Deadlines {
  readonly #waiting = new Set<Deadline>();
  #timer: NodeJS.Timeout | null = null;

  /** Resolves as `work` does, or with `late` if that takes longer than `limitMs`. */
  within<T, Late>(limitMs: number, work: Promise<T>, late: Late): Promise<T | Late> {
    return new Promise((resolve, reject) => {
      const deadline = { at: performance.now() + limitMs, onOver: () => resolve(late) };
      this.#waiting.add(deadline);
      this.#timer ??= setTimeout(() => this.#look(), GRAIN_MS);
      work.then(
        (value) => {
          this.#waiting.delete(deadline);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiting.delete(deadline);
          reject(error);
        },
      );
    });
  }

  #look(): void {
    this.#timer = null;
    const now = performance.now();
    for (const deadline of this.#waiting) {
      if (deadline.at > now) continue;
      this.#waiting.delete(deadline);
      deadline.onOver();
    }
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#look(), GRAIN_MS);
  }
}
