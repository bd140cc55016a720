/** So many at once; whoever comes then waits, in the order of coming, and no longer than it says. */
export type Window = {
  /** Whether there was a place within `waitMs`; whoever got one gives it back. */
  enter(waitMs: number): Promise<boolean>;
  leave(): void;
};

export const windowOf = (size: number): Window => {
  let inside = 0;
  const waiting = new Set<() => void>();
  return {
    enter(waitMs) {
      if (inside < size) {
        inside += 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(taken);
          resolve(false);
        }, waitMs);
        // The place of whoever leaves, so `inside` stays as it is.
        const taken = (): void => {
          clearTimeout(timer);
          resolve(true);
        };
        waiting.add(taken);
      });
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) {
        inside -= 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
};
