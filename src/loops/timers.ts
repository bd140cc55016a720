/** Runs something later, by a clock's milliseconds. Answers how to call it off. */
export type Timers = { after(ms: number, work: () => void): () => void };

/** Of this process: none of them keeps it from ending. */
export const systemTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
};
