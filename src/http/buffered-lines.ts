/** Lines within this time become one write, because a write costs more than making a line. */
const GATHER_MS = 50;
const GATHERED_LENGTH_MAX = 32 * 1024;
/** Lines of the levels "error" and "fatal" are written at once, as the process may end right after them. */
const AT_ONCE = /^\{"level":[56]0/;

export type LineStream = {
  write(line: string): void;
  flush(): void;
};

/** `write` must be synchronous, as `process.stdout` is for files and pipes. */
export const bufferedLines = (write: (text: string) => void): LineStream => {
  let gathered = "";
  let timer: NodeJS.Timeout | null = null;

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const text = gathered;
    gathered = "";
    if (text !== "") write(text);
  };

  return {
    write(line) {
      gathered += line;
      if (gathered.length >= GATHERED_LENGTH_MAX || AT_ONCE.test(line)) return flush();
      timer ??= setTimeout(flush, GATHER_MS).unref();
    },
    flush,
  };
};
