export type Timers = {
  after(ms: number, work: () => void): () => void;
  now(): number;
};

export const systemTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};
