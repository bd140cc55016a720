export type Timers = {
  /** Returns the function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** Monotonic milliseconds. */
  now(): number;
};

/** These timers do not keep the process running. */
export const systemTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};
