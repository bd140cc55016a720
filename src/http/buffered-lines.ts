/** Lines are gathered this long and written together, because a write costs more than making a line. */
const GATHER_MS = 50;
const GATHERED_LENGTH_MAX = 32 * 1024;
/** Matches lines of the levels "error" and "fatal", which are written at once: the process may end right after. */
const AT_ONCE = /^\{"level":[56]0/;

export type LineStream = {
  write(line: string): void;
  flush(): void;
};

/** `write` must be synchronous, so that the process's end loses no line; `process.stdout` is, to files and pipes. */
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
