/** Lines within this time are one write: a write costs more than the rest of a line's work. */
const GATHER_MS = 50;
const GATHERED_LENGTH_MAX = 32 * 1024;
/** The beginning of pino's lines of the levels "error" and "fatal": the process may end right after them. */
const AT_ONCE = /^\{"level":[56]0/;

export type LineStream = {
  write(line: string): void;
  /** Call it at the end of the process. */
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
