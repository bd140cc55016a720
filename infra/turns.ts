export const turnsByKey = () => {
  const turns = new Map<string, Promise<void>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const run = (turns.get(key) ?? Promise.resolve()).then(work);
    const over = (): void => {
      if (turns.get(key) === settled) turns.delete(key);
    };
    const settled: Promise<void> = run.then(over, over);
    turns.set(key, settled);
    return run;
  };
};
