/** Calls `work` for each number from 0 below `count`, at most `atOnce` of them at a time. */
export const inParallel = async (count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next;
      next += 1;
      await work(n);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
};
