import { statSync } from "node:fs";

/** Does not open the file: closing it would drop this process's locks (https://sqlite.org/howtocorrupt.html, 2.2). */
const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

export const isThere = (path: string): boolean => sizeOf(path) !== null;

/** Throws if a log's content is gone: SQLite would begin a new database and delete the `-wal` with the last records. */
export const checkNotCut = (path: string): void => {
  const size = sizeOf(path);
  if (size === 0)
    throw new Error(`${path} has no content: restore it from a backup, or move it away to begin a new log`);
  const wal = `${path}-wal`;
  if (size === null && (sizeOf(wal) ?? 0) > 0)
    throw new Error(
      `${path} is missing, but ${wal} exists: restore it from a backup, or move both away to begin a new log`,
    );
};

/** A file without a WAL has whole pages. SQLite itself would read the rest of a page that was cut as zeros. */
export const isWhole = (path: string, pageBytes: number): boolean =>
  (sizeOf(`${path}-wal`) ?? 0) > 0 || (sizeOf(path) ?? 0) % pageBytes === 0;

const PRIMARY_CODE = 0xff;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export const primaryCodeOf = (error: unknown): number | null =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) & PRIMARY_CODE : null;

export const isBusy = (error: unknown): boolean => primaryCodeOf(error) === SQLITE_BUSY;

export const isDamage = (error: unknown): error is Error => {
  const code = primaryCodeOf(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
};
