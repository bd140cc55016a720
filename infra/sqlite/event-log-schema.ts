import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, fsyncSync, linkSync, openSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../make-directory.ts";
import { LOG_FORMAT, OtherFormat } from "../other-format.ts";
import { checkNotCut, isDamage, isThere, primaryCodeOf } from "./database-file.ts";
import { type Database, type DatabaseOptions, DatabaseSync } from "./driver.ts";
import { giveIdentity } from "./event-log-identity.ts";
import { createPrivateFile } from "./private-file.ts";

/** The log's own mark in the file's header ("CSLG"), so that no other database is taken for one. */
const APPLICATION_ID = 0x43534c47;

/**
 * A stream's name is split at its first dash and indexed key first: `delivery-x` and `payload-x`, which are written
 * together, then share their index pages. The position is the rowid: rows are never deleted, only blanked (see
 * `event-log-writer.ts`), so it grows without gaps and is never given twice. An erased event has an empty type.
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
  CREATE UNIQUE INDEX events_by_stream ON events (key, category, revision);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LOG_FORMAT};
`;

/** Index leaves are hit at random, as ids are hashes: this keeps those of half a million streams at hand, the system the rest. */
const WRITER_CACHE_KIB = 32 * 1024;
/** Readers page through what was just written, and the operating system caches the file as well. */
const READER_CACHE_KIB = 8 * 1024;
/** How long another process's transaction is waited for. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;
/** https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

export type OpenOptions = {
  readonly path: string;
  /** Milliseconds to wait for another process's lock; 5 s if not given. */
  readonly busyTimeoutMs?: number;
  /** Pages that the file may have: a full disk, for tests. */
  readonly maxPages?: number;
};

/** The one value that a pragma answers. */
const pragma = (db: Database, text: string): unknown => Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];

const demand = (db: Database, name: string, value: string | number, readBack = value): void => {
  pragma(db, `${name} = ${value}`);
  const actual = pragma(db, name);
  if (actual !== readBack) throw new Error(`SQLite keeps ${name} at ${actual}, the event log needs ${readBack}`);
};

const notALog = (path: string): Error =>
  new Error(`${path} is not an event log, or is damaged: restore it from a backup`);

/** The file's header names the format (https://sqlite.org/pragma.html#pragma_user_version). */
const checkSchema = (db: Database, path: string): void => {
  if (pragma(db, "application_id") !== APPLICATION_ID) throw notALog(path);
  const format = Number(pragma(db, "user_version"));
  if (format !== LOG_FORMAT)
    throw new OtherFormat(path, format === 0 ? null : format, LOG_FORMAT, "move the file away to begin a new log");
};

/** Opens the file and runs `prepare`. A failure says which file it is about, which SQLite does not. */
const prepared = (path: string, options: DatabaseOptions, prepare: (db: Database) => void): Database => {
  let db: Database;
  try {
    db = new DatabaseSync(path, options);
  } catch (error) {
    throw new Error(`${path} cannot be opened (${error instanceof Error ? error.message : String(error)})`);
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

const isBusy = (error: unknown): boolean => primaryCodeOf(error) === SQLITE_BUSY;

/** SQLite does not wait when two connections turn a new file to WAL at once: the one that is refused tries again. */
const enterWal = (db: Database, timeoutMs: number): void => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      demand(db, "journal_mode", "WAL", "wal");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      // Only the log's own threads come here: they have nothing else to do.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS);
    }
  }
};

const durable = (db: Database, timeoutMs: number): void => {
  enterWal(db, timeoutMs);
  // FULL (2): COMMIT returns after the WAL is synced, not merely written.
  demand(db, "synchronous", "FULL", 2);
  // A checkpoint inside a COMMIT would be waited for by everybody in that group: see event-log-checkpoints.ts.
  demand(db, "wal_autocheckpoint", 0);
};

/** Without it a crash of the system could take the name, and all that was appended under it. */
const makeNameDurable = (path: string): void => {
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
};

/**
 * Made under another name first, then linked: a log is there as a whole, with its tables and its identity, or not at all. So
 * a file without them is never the beginning of a new log.
 */
const createLog = (path: string): void => {
  const draft = `${path}.${randomUUID()}`;
  createPrivateFile(draft);
  try {
    const db = new DatabaseSync(draft);
    try {
      db.exec(SCHEMA);
      giveIdentity(db);
    } finally {
      db.close();
    }
    linkSync(draft, path);
  } catch (error) {
    // Another process may have been first.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(draft);
  }
};

/** The connection that appends. Creates what is not there; refuses a file that is no event log or has another format. */
export const openWriting = ({ path, busyTimeoutMs = BUSY_TIMEOUT_MS, maxPages }: OpenOptions): Database => {
  makeDirectory(dirname(path));
  checkNotCut(path);
  if (!isThere(path)) createLog(path);
  // Refuses a file that this user may not read and write, before SQLite opens it for reading alone.
  createPrivateFile(path);
  makeNameDurable(path);
  return prepared(path, { timeout: busyTimeoutMs }, (db) => {
    checkSchema(db, path);
    durable(db, busyTimeoutMs);
    checkSchema(db, path);
    demand(db, "cache_size", -WRITER_CACHE_KIB);
    // What is erased is overwritten with zeros, not merely unlinked.
    demand(db, "secure_delete", "ON", 1);
    if (maxPages !== undefined) demand(db, "max_page_count", maxPages);
  });
};

/** A connection that only copies the WAL into the file. */
export const openCheckpointing = (path: string): Database =>
  prepared(path, { timeout: BUSY_TIMEOUT_MS }, (db) => durable(db, BUSY_TIMEOUT_MS));

/** SQLite makes the `-wal` and `-shm` of a log that lacks them, as one does after a backup, also for who only reads. */
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

/** A connection that only reads an existing log. */
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
      `${path} cannot be read in a folder that this user cannot write to, as SQLite makes files beside it: copy it into another folder`,
    );
  }
};
