import { rmSync } from "node:fs";
import { isDamage } from "./database-file.ts";
import { type Database, DatabaseSync } from "./driver.ts";
import { KEY_MAP_TABLE_NAMES, KEY_MAP_TABLES } from "./key-map-tables.ts";
import { createPrivateFile } from "./private-file.ts";

/** A file of another format is begun anew, because all of it can be folded again from the log. */
const FORMAT = 2;
const LOCK_TIMEOUT_MS = 5_000;
const CACHE_KIB = 4 * 1024;
const WAL_KEPT_BYTES = 16 * 1024 * 1024;
/** As many pages as the file that is kept has room for: what is written again and again is copied into the database once. */
const CHECKPOINT_PAGES = WAL_KEPT_BYTES / 4_096;

/**
 * `trees.sealed_leaf` is the leaf of the instance tree that last sealed the tree, -1 if none has; `mapped` is the size of
 * which the last map was sealed, -1 if none was. A tile's sum is the
 * beginning of the SHA-256 of its hashes, so that a changed byte is found when the tile is read.
 */
const TABLES = `
CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), log TEXT NOT NULL, position TEXT, record TEXT, instance TEXT NOT NULL);
CREATE TABLE trees (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, frontier BLOB NOT NULL,
  sealed_size INTEGER NOT NULL, sealed_leaf INTEGER NOT NULL, mapped INTEGER NOT NULL DEFAULT -1
);
CREATE INDEX unsealed ON trees (sealed_leaf) WHERE size > sealed_size AND name <> '';
CREATE TABLE tiles (
  tree INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT NULL, hashes BLOB NOT NULL, sum BLOB NOT NULL,
  PRIMARY KEY (tree, level, number)
);
CREATE TABLE keys (
  tree INTEGER NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, last INTEGER, PRIMARY KEY (tree, key)
) WITHOUT ROWID;
CREATE TABLE sealed (leaf INTEGER PRIMARY KEY, tree INTEGER NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL);
CREATE INDEX sealed_sizes ON sealed (tree, size);
${KEY_MAP_TABLES}`;

export const TABLE_NAMES = ["state", "trees", "tiles", "keys", "sealed", ...KEY_MAP_TABLE_NAMES] as const;

const isOfFormat = (database: Database): boolean =>
  Number(database.prepare("PRAGMA user_version").get()?.user_version) === FORMAT;

const openFile = (path: string): Database => {
  if (path !== ":memory:") createPrivateFile(path);
  const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    // With `synchronous=NORMAL` a power loss can take the last commits as a whole, and they are folded again.
    database.exec(
      `PRAGMA cache_size = -${CACHE_KIB}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
       PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    );
    if (isOfFormat(database)) return database;
    database.exec("BEGIN IMMEDIATE");
    // Another process may have made the tables meanwhile.
    if (!isOfFormat(database)) {
      for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all())
        database.exec(`DROP TABLE "${String(name)}"`);
      database.exec(TABLES);
      database.exec(`PRAGMA user_version = ${FORMAT}`);
    }
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Changes nothing, also if the file is damaged or of another format: null then. */
export const openEvidenceToRead = (path: string): Database | null => {
  const database = new DatabaseSync(path, { readOnly: true, timeout: LOCK_TIMEOUT_MS });
  try {
    if (isOfFormat(database)) return database;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  database.close();
  return null;
};

export const removeEvidence = (path: string): void => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
};

/** A file that cannot be read is replaced by an empty one, which is folded again from the log. */
export const openEvidence = (path: string): Database => {
  try {
    return openFile(path);
  } catch (error) {
    if (!isDamage(error) || path === ":memory:") throw error;
    removeEvidence(path);
    return openFile(path);
  }
};
