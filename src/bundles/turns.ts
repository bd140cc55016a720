export type Turns = {
  /** Shares the result of a waiting call for the key: it starts later, so it sees all that this call would see. */
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
  idle(): Promise<void>;
};

/** Works on at most `keysMax` keys at once, in the order of the calls. All calls for a key must do the same work. */
export const turns = (keysMax: number): Turns => {
  const waiting = new Map<string, Promise<unknown>>();
  const running = new Map<string, Promise<unknown>>();
  const all = new Set<Promise<unknown>>();
  const queue: (() => void)[] = [];
  let places = keysMax;

  const place = (): Promise<void> => {
    if (places > 0) {
      places -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => queue.push(resolve));
  };

  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) places += 1;
    else next();
  };

  const turn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    await running.get(key)?.catch(() => undefined);
    await place();
    waiting.delete(key);
    const done = work();
    running.set(key, done);
    try {
      return await done;
    } finally {
      if (running.get(key) === done) running.delete(key);
      leave();
    }
  };

  return {
    take<T>(key: string, work: () => Promise<T>) {
      const known = waiting.get(key);
      if (known !== undefined) return known as Promise<T>;
      const it = turn(key, work);
      waiting.set(key, it);
      all.add(it);
      it.catch(() => undefined).then(() => all.delete(it));
      return it;
    },
    async idle() {
      while (all.size > 0) await Promise.allSettled(all);
    },
  };
};
