/** Work that is done for one key at a time. */
export type Turns = {
  /**
   * Runs `work` when nothing else is under way for its key. Who asks for a turn while one of the key is waiting for its
   * own gets that one's answer: it begins later, so it sees all that this one would have seen.
   */
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Waits for what is under way and what waits. */
  idle(): Promise<void>;
};

/** At most `keysMax` keys at once, in the order in which they asked. `take` of one key is always given the same work. */
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
      // The same work answers the same type.
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
