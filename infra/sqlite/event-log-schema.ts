import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, fsyncSync, linkSync, openSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage } from "../error-message.ts";
import { makeDirectory } from "../make-directory.ts";
import { LOG_FORMAT, OtherFormat } from "../other-format.ts";
import { checkNotCut, isBusy, isDamage, isThere, isWhole, primaryCodeOf } from "./database-file.ts";
import { type Database, type DatabaseOptions, DatabaseSync } from "./driver.ts";
import { giveIdentity } from "./event-log-identity.ts";
import { createPrivateFile } from "./private-file.ts";
import { INDEX_SCHEMA } from "./stream-index.ts";

const APPLICATION_ID = 0x43534c47;

/**
 * Records are appended at the right edge of `events` alone; `stream-index.ts` finds those of a stream. Rows are never
 * deleted, only blanked (`event-log-writer.ts`), so positions grow without gaps and are never reused.
 */
const SCHEMA = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    category TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    meta TEXT NOT NULL
  ) STRICT;
  ${INDEX_SCHEMA}
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LOG_FORMAT};
`;

/**
 * A page of SQLite's usual 4 KiB has room for two or three records, and a fifth of it stays empty. A log keeps the page
 * size with which it was made.
 */
export const PAGE_BYTES = 8_192;
/** For the inner pages of the index. Its leaves are read at random when a new stream begins, and no cache would hold them. */
const WRITER_CACHE_KIB = 4 * 1024;
/** Followers read each record once, from one end of the log to the other. */
const READER_CACHE_KIB = 2 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

export type OpenOptions = {
  readonly path: string;
  readonly busyTimeoutMs?: number;
  readonly maxPages?: number;
};

const pragma = (db: Database, text: string): unknown => Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];

const demand = (db: Database, name: string, value: string | number, readBack = value): void => {
  pragma(db, `${name} = ${value}`);
  const actual = pragma(db, name);
  if (actual !== readBack) throw new Error(`SQLite keeps ${name} at ${actual}, the event log needs ${readBack}`);
};

/** A newer version has written the file, so an upgrade was made that can only be taken back as a whole. */
const BACKUP_REMEDY = "restore the backup that was made before the upgrade";

const notALog = (path: string): Error =>
  new Error(`${path} is not an event log, or is damaged: restore it from a backup`);

const checkSchema = (db: Database, path: string): void => {
  const isLog = pragma(db, "application_id") === APPLICATION_ID;
  if (!isLog || !isWhole(path, Number(pragma(db, "page_size")))) throw notALog(path);
  const format = Number(pragma(db, "user_version"));
  if (format === LOG_FORMAT) return;
  const remedy = format > LOG_FORMAT ? BACKUP_REMEDY : "move the file away to begin a new log";
  throw new OtherFormat(path, format === 0 ? null : format, LOG_FORMAT, remedy);
};

/** SQLite's errors do not name the file. An error that it cannot be opened or is damaged is replaced by one that does. */
const prepared = (path: string, options: DatabaseOptions, prepare: (db: Database) => void): Database => {
  let db: Database;
  try {
    db = new DatabaseSync(path, options);
  } catch (error) {
    throw new Error(`${path} cannot be opened (${errorMessage(error)})`);
  }
  try {
    prepare(db);
    return db;
  } catch (error) {
    db.close();
    if (isDamage(error)) throw notALog(path);
    throw error;
  }
};

/** SQLite does not wait when two connections switch a new file to WAL at once, so the refused one retries. */
const enterWal = (db: Database, timeoutMs: number): void => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      demand(db, "journal_mode", "WAL", "wal");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS);
    }
  }
};

const durable = (db: Database, timeoutMs: number): void => {
  enterWal(db, timeoutMs);
  // With FULL, COMMIT returns after the WAL is synced and not merely written.
  demand(db, "synchronous", "FULL", 2);
  // A checkpoint inside a COMMIT would make a whole group of appends wait (event-log-checkpoints.ts).
  demand(db, "wal_autocheckpoint", 0);
};

/** Without a sync of the folder, a crash of the system could lose the file's name and all records with it. */
const makeNameDurable = (path: string): void => {
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
};

/** The finished file is linked in one step, so that a log exists with its tables and identity or not at all. */
const createLog = (path: string): void => {
  const draft = `${path}.${randomUUID()}`;
  createPrivateFile(draft);
  try {
    const db = new DatabaseSync(draft);
    try {
      db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
      db.exec(SCHEMA);
      giveIdentity(db);
    } finally {
      db.close();
    }
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(draft);
  }
};

export const openWriting = ({ path, busyTimeoutMs = BUSY_TIMEOUT_MS, maxPages }: OpenOptions): Database => {
  makeDirectory(dirname(path));
  checkNotCut(path);
  if (!isThere(path)) createLog(path);
  // SQLite would open a file without write access as read-only; this throws instead.
  createPrivateFile(path);
  makeNameDurable(path);
  return prepared(path, { timeout: busyTimeoutMs }, (db) => {
    checkSchema(db, path);
    durable(db, busyTimeoutMs);
    checkSchema(db, path);
    demand(db, "cache_size", -WRITER_CACHE_KIB);
    // With `secure_delete`, SQLite overwrites erased content with zeros instead of only unlinking it.
    demand(db, "secure_delete", "ON", 1);
    if (maxPages !== undefined) demand(db, "max_page_count", maxPages);
  });
};

export const openCheckpointing = (path: string): Database =>
  prepared(path, { timeout: BUSY_TIMEOUT_MS }, (db) => durable(db, BUSY_TIMEOUT_MS));

/** Even for a reader SQLite creates the `-wal` and `-shm` that a backup lacks, so its folder must be writable. */
const lacksFolder = (path: string, error: unknown): boolean => {
  const code = primaryCodeOf(error);
  if (code !== SQLITE_CANTOPEN && code !== SQLITE_READONLY) return false;
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch {
    return true;
  }
};

export const openReading = (path: string): Database => {
  checkNotCut(path);
  try {
    return prepared(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS }, (db) => {
      checkSchema(db, path);
      demand(db, "cache_size", -READER_CACHE_KIB);
    });
  } catch (error) {
    if (!lacksFolder(path, error)) throw error;
    throw new Error(
      `${path} cannot be read in a folder that this user cannot write to, because SQLite creates files next to it: copy it into another folder`,
    );
  }
};
