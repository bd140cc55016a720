import type { ViewSchema } from "../../domain/ports/view-store.ts";
import { OtherFormat } from "../other-format.ts";
import { schemaOf } from "../view-schema.ts";
import { isDamage } from "./database-file.ts";
import { type Database, DatabaseSync } from "./driver.ts";
import { createPrivateFile } from "./private-file.ts";
import { layoutOf, othersOf, quoted, tableOf } from "./view-layout.ts";
import { WORDS } from "./view-words.ts";

const TABLES_FORMAT = 4;
/** Milliseconds to wait for a commit of another process, such as a rebuild next to a running service. */
const LOCK_TIMEOUT_MS = 5_000;
/** Enough for the inner pages of all tables and for what a commit changes; the operating system's cache keeps the others. */
const CACHE_KIB = 8 * 1024;
/** Smaller, because the writer's next commit invalidates a reader's pages. */
const READER_CACHE_KIB = 4 * 1024;
/** With SQLite's default of 1,000 the projector folds half as fast; with far more, checkpoints slow down readers. */
const WAL_CHECKPOINT_PAGES = 8_192;
const WAL_KEPT_BYTES = 64 * 1024 * 1024;

const ENGINE_CODES: ReadonlySet<unknown> = new Set(["ERR_SQLITE_ERROR", "ERR_INVALID_STATE"]);

export const isEngineError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ENGINE_CODES.has(error.code);

export const indexName = ({ name }: Pick<ViewSchema, "name">, index: readonly string[]): string =>
  `${name}/${index.join("/")}`;

const sorted = (members: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));

const textOf = ({ fields, indexes, packing }: ViewSchema): string =>
  JSON.stringify({
    fields: sorted(fields),
    indexes,
    packing: packing && { ...packing, members: sorted(packing.members) },
  });

const formatOf = (database: Database): number => Number(database.prepare("PRAGMA user_version").get()?.user_version);

const isEmpty = (database: Database): boolean => database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;

/** An older format is not read: its views are folded again. */
const isOlder = (format: number): boolean => format > 0 && format < TABLES_FORMAT;

const checkFormat = (database: Database, path: string): void => {
  const format = formatOf(database);
  if (format === TABLES_FORMAT || isOlder(format) || (format === 0 && isEmpty(database))) return;
  const remedy = "delete it with its -wal and -shm files, as the views are folded again from the log";
  throw new OtherFormat(path, format === 0 ? null : format, TABLES_FORMAT, remedy);
};

const transaction = <T>(database: Database, work: () => T): T => {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

const VIEWS = `CREATE TABLE IF NOT EXISTS views (
  name TEXT PRIMARY KEY NOT NULL, schema TEXT NOT NULL, position TEXT, origin TEXT, record TEXT
)`;

const TYPES = { text: "TEXT", number: "REAL", word: "INTEGER", time: "INTEGER", position: "INTEGER" } as const;

const createView = (database: Database, schema: ViewSchema): void => {
  const { columns, numbered } = layoutOf(schema);
  const table = tableOf(schema);
  const declared = columns.map(({ name, kind }) => `${quoted(name)} ${TYPES[kind]}`);
  if (numbered !== null) {
    // New rows come last in the table, and SQLite appends its key to every index.
    const key = `PRIMARY KEY (${quoted(numbered.group)}, ${quoted(numbered.number)})`;
    database.exec(`CREATE TABLE ${table} (document TEXT, ${[...declared, key].join(", ")}) WITHOUT ROWID`);
    database.exec(`CREATE TABLE ${othersOf(schema)} (id TEXT PRIMARY KEY NOT NULL, document TEXT NOT NULL)`);
  } else {
    // Rows that are hardly longer than their id are kept in the index of the ids.
    const kept = schema.packing?.isSmall === true ? "WITHOUT ROWID" : "";
    database.exec(
      `CREATE TABLE ${table} (${["id TEXT PRIMARY KEY NOT NULL", "document TEXT", ...declared].join(", ")}) ${kept}`,
    );
  }
  for (const index of schema.indexes) {
    const name = quoted(indexName(schema, index));
    // A query on this index has a condition on every field but the last, so documents without one of those need no
    // entry.
    const there = index.slice(0, -1).map((field) => `${quoted(field)} IS NOT NULL`);
    const where = there.length === 0 ? "" : ` WHERE ${there.join(" AND ")}`;
    const fields = numbered === null ? [...index, "id"] : index;
    database.exec(`CREATE INDEX ${name} ON ${table} (${fields.map(quoted).join(", ")})${where}`);
  }
  database.prepare("INSERT INTO views (name, schema) VALUES (?, ?)").run(schema.name, textOf(schema));
};

const isThere = (database: Database, path: string, schema: ViewSchema): boolean => {
  const row = database.prepare("SELECT schema FROM views WHERE name = ?").get(schema.name);
  if (row !== undefined && row.schema !== textOf(schema))
    throw new Error(
      `${path}: the view ${schema.name} is kept with other fields or indexes than the program declares. ` +
        "Give the changed view a new version in its name, or rebuild it: countersign views rebuild.",
    );
  return row !== undefined;
};

const removeTables = (database: Database): void => {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) database.exec(`DROP TABLE ${quoted(String(name))}`);
};

/** With `synchronous=NORMAL` a power loss can take the last commits as a whole, and their events are folded again. */
export const openViews = (path: string, schemas: ReadonlyMap<string, ViewSchema>, readOnly: boolean): Database => {
  if (!readOnly) createPrivateFile(path);
  const database = new DatabaseSync(path, { readOnly, timeout: LOCK_TIMEOUT_MS });
  try {
    database.exec(`PRAGMA cache_size = -${readOnly ? READER_CACHE_KIB : CACHE_KIB}`);
    checkFormat(database, path);
    if (readOnly) {
      for (const schema of schemas.values())
        if (!isThere(database, path, schema)) throw new Error(`${path}: the view ${schema.name} is not there yet`);
      return database;
    }
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    database.exec(`PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`);
    const wasOlder = transaction(database, () => {
      checkFormat(database, path);
      const older = isOlder(formatOf(database));
      if (older) removeTables(database);
      database.exec(VIEWS);
      database.exec(WORDS);
      database.exec(`PRAGMA user_version = ${TABLES_FORMAT}`);
      for (const schema of schemas.values()) if (!isThere(database, path, schema)) createView(database, schema);
      return older;
    });
    // The file would keep the size of the removed tables.
    if (wasOlder) database.exec("VACUUM");
    return database;
  } catch (error) {
    database.close();
    if (!isDamage(error)) throw error;
    throw new Error(
      `${path} is damaged (${error.message}): delete it with its -wal and -shm files, the views are folded again from the log`,
    );
  }
};

export const emptyView = (
  database: Database,
  schemas: ReadonlyMap<string, ViewSchema>,
  view: string,
  log: string,
): void => {
  const schema = schemaOf(schemas, view);
  const { name } = schema;
  transaction(database, () => {
    // Without a WHERE clause SQLite frees whole pages instead of visiting each row.
    database.exec(`DELETE FROM ${tableOf(schema)}`);
    if (layoutOf(schema).numbered !== null) database.exec(`DELETE FROM ${othersOf(schema)}`);
    database.prepare("UPDATE views SET position = NULL, record = NULL, origin = ? WHERE name = ?").run(log, name);
  });
};

export const removeViews = (path: string, names?: readonly string[]): readonly string[] => {
  const database = openViews(path, new Map(), false);
  try {
    return transaction(database, () => {
      const kept = database
        .prepare("SELECT name FROM views ORDER BY name")
        .all()
        .map(({ name }) => String(name));
      const removed = kept.filter((name) => names?.includes(name) ?? true);
      for (const name of removed) {
        database.exec(`DROP TABLE ${tableOf({ name })}`);
        database.exec(`DROP TABLE IF EXISTS ${othersOf({ name })}`);
        database.prepare("DELETE FROM views WHERE name = ?").run(name);
      }
      return removed;
    });
  } finally {
    database.close();
  }
};
