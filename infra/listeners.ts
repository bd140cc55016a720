export type Listeners = {
  listen(wake: () => void): () => void;
  /** Wakes once for all calls in one turn of the event loop. */
  wakeSoon(): void;
  close(): void;
};

/** `hear` runs at the first listener; the function that it returns runs after the last one has stopped. */
export const listening = (hear: () => () => void): Listeners => {
  // Wrapped, so that the same function may listen twice.
  const listeners = new Set<{ readonly wake: () => void }>();
  let stopHearing: (() => void) | null = null;
  let isDue = false;

  const wakeAll = (): void => {
    isDue = false;
    for (const { wake } of [...listeners]) wake();
  };

  const stop = (): void => {
    stopHearing?.();
    stopHearing = null;
  };

  return {
    listen(wake) {
      const listener = { wake };
      listeners.add(listener);
      stopHearing ??= hear();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    wakeSoon() {
      if (isDue || listeners.size === 0) return;
      isDue = true;
      setImmediate(wakeAll);
    },
    close() {
      listeners.clear();
      stop();
    },
  };
};
