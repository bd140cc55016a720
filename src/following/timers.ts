export type Timers = {
  /** Runs something later. Answers how to call it off. */
  after(ms: number, work: () => void): () => void;
  /** Milliseconds since some moment in the past: a clock that is set does not change them. */
  now(): number;
};

/** Of this process: none of them keeps it from ending. */
export const systemTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};
