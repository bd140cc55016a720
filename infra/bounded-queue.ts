export type BoundedQueue = {
  /** Null if `waitingMax` calls wait already: the caller refuses the work instead of letting the queue grow. */
  run<T>(work: () => Promise<T>): Promise<T> | null;
};

export const boundedQueue = ({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }): BoundedQueue => {
  const waiting: (() => void)[] = [];
  let running = 0;

  const start = async <T>(work: () => Promise<T>): Promise<T> => {
    // A waiting call takes the place of one that has ended, so `running` does not change.
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
