export type BoundedQueue = {
  /** Null when too many wait already: the caller says so instead of letting the line grow. */
  run<T>(work: () => Promise<T>): Promise<T> | null;
};

/** At most `atOnce` run, at most `waitingMax` wait, first come first served. */
export const boundedQueue = ({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }): BoundedQueue => {
  const waiting: (() => void)[] = [];
  let running = 0;

  const start = async <T>(work: () => Promise<T>): Promise<T> => {
    // Whoever waits is given the place of the one that ends: `running` stays as it is.
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return {
    run: (work) => (running >= atOnce && waiting.length >= waitingMax ? null : start(work)),
  };
};
