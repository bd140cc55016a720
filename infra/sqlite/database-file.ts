import { statSync } from "node:fs";

/**
 * A file is looked at by its name alone. To open and close it would drop the locks that this process has on it through
 * SQLite (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

export const isThere = (path: string): boolean => sizeOf(path) !== null;

/**
 * Throws for what is left of a log whose content is gone. SQLite would take it for a new database, and delete the `-wal`
 * beside it, which may hold the last records.
 */
export const checkNotCut = (path: string): void => {
  const size = sizeOf(path);
  if (size === 0)
    throw new Error(`${path} has no content: restore it from a backup, or move it away to begin a new log`);
  const wal = `${path}-wal`;
  if (size === null && (sizeOf(wal) ?? 0) > 0)
    throw new Error(`${path} is missing beside ${wal}: restore it from a backup, or move both away to begin a new log`);
};

/** https://sqlite.org/rescode.html: the primary code of an error is its lowest byte. */
const PRIMARY_CODE = 0xff;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** The primary code of an error of SQLite; null for any other error. */
export const primaryCodeOf = (error: unknown): number | null =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) & PRIMARY_CODE : null;

/** The file's content is not what SQLite wrote. */
export const isDamage = (error: unknown): error is Error => {
  const code = primaryCodeOf(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
};
