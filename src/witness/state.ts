import type { TreeHead } from "../../domain/evidence/merkle.ts";
import { isBusy } from "../../infra/sqlite/database-file.ts";
import { type Database, DatabaseSync, type SqlRow } from "../../infra/sqlite/driver.ts";
import { createPrivateFile } from "../../infra/sqlite/private-file.ts";

/** What a witness last cosigned for an origin. */
export type Seen = TreeHead & {
  /** The time in that cosignature, in seconds. */
  readonly time: number;
  /** The checkpoint with the signature of its log and the cosignature. */
  readonly note: string;
};

/** SQLite writes its journal first, and syncs file, journal and folder before a statement returns. */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = DELETE;
  PRAGMA synchronous = EXTRA;
`;

const SCHEMA = `
  BEGIN EXCLUSIVE;
  CREATE TABLE IF NOT EXISTS key (id INTEGER PRIMARY KEY CHECK (id = 1), vkey TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS seen (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, time INTEGER NOT NULL, note TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS forks (origin TEXT PRIMARY KEY, note TEXT NOT NULL) STRICT;
  COMMIT;
`;

/** The cast is safe, because the table is STRICT. */
const seenOf = (row: SqlRow): Seen => row as unknown as Seen;

/** The memory of a witness, in a file that one process alone has open. Each change is on disk when its call returns. */
export class WitnessState {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static open(path: string): WitnessState {
    createPrivateFile(path);
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec(SETTINGS);
      database.exec(SCHEMA);
    } catch (error) {
      database.close();
      if (isBusy(error)) throw new Error(`${path} is in use: another witness is running on it.`);
      throw new Error(`${path} cannot be used as a witness' state: ${String(error)}.`);
    }
    return new WitnessState(database);
  }

  /** The verifier key of the witness to which this memory belongs; null before it has a key. */
  key(): string | null {
    const row = this.#database.prepare("SELECT vkey FROM key").get();
    return row === undefined ? null : String(row.vkey);
  }

  setKey(vkey: string): void {
    this.#database.prepare("INSERT OR REPLACE INTO key (id, vkey) VALUES (1, ?)").run(vkey);
  }

  seen(origin: string): Seen | null {
    const row = this.#database.prepare("SELECT size, root, time, note FROM seen WHERE origin = ?").get(origin);
    return row === undefined ? null : seenOf(row);
  }

  origins(): readonly string[] {
    return this.#database
      .prepare("SELECT origin FROM seen")
      .all()
      .map((row) => String(row.origin));
  }

  setSeen(origin: string, { size, root, time, note }: Seen): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO seen (origin, size, root, time, note) VALUES (?, ?, ?, ?, ?)")
      .run(origin, size, root, time, note);
  }

  /** Keeps the first checkpoint that contradicts what was cosigned; false if there is one already. */
  keepFork(origin: string, note: string): boolean {
    return (
      Number(
        this.#database.prepare("INSERT OR IGNORE INTO forks (origin, note) VALUES (?, ?)").run(origin, note).changes,
      ) > 0
    );
  }

  close(): void {
    // @photostructure/sqlite may keep a closed file open, and with it the lock, until the garbage collector runs. With
    // the mode NORMAL the lock ends with the next read.
    this.#database.exec("PRAGMA locking_mode = NORMAL");
    this.key();
    this.#database.close();
  }
}
