/** Lines that come within this are one write: a write for each costs more than all else about it, and wakes whoever reads. */
const GATHER_MS = 50;
/** Under load more come in that time: in memory are no more than these. */
const GATHERED_LENGTH_MAX = 32 * 1024;
/** pino's levels "error" and "fatal", as its lines begin: what may be the last one of a process is not kept back. */
const AT_ONCE = /^\{"level":[56]0/;

export type LineStream = {
  write(line: string): void;
  /** Writes what is left, for the end of the process. */
  flush(): void;
};

/** A stream for the logger; `write` has to take a text whole before it returns, as `process.stdout` does for files and pipes. */
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
