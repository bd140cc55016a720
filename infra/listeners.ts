export type Listeners = {
  listen(wake: () => void): () => void;
  wakeSoon(): void;
  close(): void;
};

/** `hear` is called for the first listener, and what it returns is called when the last listener has stopped. */
export const listening = (hear: () => () => void): Listeners => {
  // The set holds wrappers, so that one function may listen twice.
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
