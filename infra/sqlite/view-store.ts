import type { Position } from "../../domain/ports/event-log.ts";
import type { Document, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { batched } from "../batched.ts";
import { nameOf } from "../record-name.ts";
import { ViewsUnavailable } from "../view-errors.ts";
import { isDocumentId, schemaOf, schemasByName } from "../view-schema.ts";
import type { Database, Statement } from "./driver.ts";
import { type Layout, layoutOf, othersOf, partsOf, quoted, tableOf, valuesOf } from "./view-layout.ts";
import { type Row, viewQueries } from "./view-queries.ts";
import { emptyView, isEngineError, openViews } from "./view-tables.ts";
import { viewWords, type Words } from "./view-words.ts";

export type SqliteViewStoreOptions = {
  readonly path: string;
  readonly schemas: readonly ViewSchema[];
};

/** One view's part of a page of the log. */
type Commit = {
  readonly view: string;
  readonly after: Position | null;
  readonly upTo: Position;
  readonly named: string | null;
  readonly documents: ReadonlyMap<string, Document | null>;
  readonly absent: (id: string) => boolean;
};

type Outcome = "committed" | "stale" | Error;

type Table = { readonly upsert: Statement; readonly remove: Statement };

/** `others`: the documents of a numbered view that have no number. */
type Writer = {
  readonly layout: Layout;
  readonly advance: Statement;
  readonly table: Table;
  readonly others: Table | null;
};

const tableWriter = (database: Database, table: string, key: readonly string[], names: readonly string[]): Table => {
  const changes = names
    .filter((name) => !key.includes(name))
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  return {
    upsert: database.prepare(
      `INSERT INTO ${table} (${names.map(quoted).join(", ")}) VALUES (${names.map(() => "?").join(", ")})
       ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${changes.join(", ")}`,
    ),
    remove: database.prepare(`DELETE FROM ${table} WHERE ${key.map((name) => `${quoted(name)} = ?`).join(" AND ")}`),
  };
};

const writerOf = (database: Database, schema: ViewSchema): Writer => {
  const layout = layoutOf(schema);
  const { numbered } = layout;
  const names = ["document", ...layout.columns.map(({ name }) => name)];
  return {
    layout,
    advance: database.prepare(
      `UPDATE views SET position = ?, record = ? WHERE name = '${schema.name}' AND position IS ?`,
    ),
    table:
      numbered === null
        ? tableWriter(database, tableOf(schema), ["id"], ["id", ...names])
        : tableWriter(database, tableOf(schema), [numbered.group, numbered.number], names),
    others: numbered && tableWriter(database, othersOf(schema), ["id"], ["id", "document"]),
  };
};

/** Throws a TypeError for a document that no projection may make. */
const write = ({ layout, table, others }: Writer, id: string, document: Document | null, words: Words): void => {
  const { schema, numbered } = layout;
  if (!isDocumentId(id))
    throw new TypeError(`view ${schema.name}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
  const parts = numbered && partsOf(id);
  if (numbered === null || parts === null) {
    if (document === null) (others ?? table).remove.run(id);
    else if (others !== null) others.upsert.run(id, JSON.stringify(document));
    else table.upsert.run(id, ...valuesOf(layout, document, words));
    return;
  }
  if (document === null) table.remove.run(words.numberOf(parts.group), parts.number);
  else if (document[numbered.group] !== parts.group || document[numbered.number] !== parts.number)
    throw new TypeError(`view ${schema.name}: ${id} is not made of the document's members`);
  else table.upsert.run(...valuesOf(layout, document, words));
};

/** A row has the JSON of a document. */
export const parseDocument = (text: string): Document => JSON.parse(text) as Document;

export const documentsOf = (rows: readonly Row[]): ReadonlyMap<string, Document> =>
  new Map(rows.map(([id, text]) => [id, parseDocument(text)]));

export const foundOf = (rows: readonly Row[]): readonly { readonly id: string; readonly document: Document }[] =>
  rows.map(([id, text]) => ({ id, document: parseDocument(text) }));

/**
 * Declared fields are columns, because an index over a JSON expression would parse every document at every write. If
 * the engine fails, a call throws `ViewsUnavailable` and has written nothing.
 */
export const sqliteViewStore = ({ path, schemas }: SqliteViewStoreOptions): ViewStore => {
  const byName = schemasByName(schemas);
  const database = openViews(path, byName, false);
  const queries = viewQueries(database, byName);
  const words = viewWords(database);
  const writers = new Map<string, Writer>();
  const writer = (view: string): Writer => {
    const prepared = writers.get(view) ?? writerOf(database, schemaOf(byName, view));
    writers.set(view, prepared);
    return prepared;
  };
  const reading = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw isEngineError(error) ? new ViewsUnavailable(`${path} cannot be read`, { cause: error }) : error;
    }
  };
  const rollback = (): void => {
    words.forget();
    if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
  };
  const writing = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      rollback();
      // This is a projection's bug and not the engine's failure.
      if (error instanceof TypeError) throw error;
      throw new ViewsUnavailable(`${path}: nothing was written`, { cause: error });
    }
  };

  /** "stale", with nothing written, if the view's checkpoint is another. */
  const written = ({ view, after, upTo, named, documents, absent }: Commit): "committed" | "stale" => {
    const into = writer(view);
    if (Number(into.advance.run(upTo, named, after).changes) === 0) return "stale";
    for (const [id, document] of documents) if (document !== null || !absent(id)) write(into, id, document, words);
    return "committed";
  };
  const inTransaction = (commits: readonly Commit[]): ReadonlyMap<Commit, Outcome> =>
    writing(() => {
      database.exec("BEGIN IMMEDIATE");
      const outcomes = new Map(commits.map((commit) => [commit, written(commit)]));
      database.exec("COMMIT");
      return outcomes;
    });
  const committed = (commits: readonly Commit[]): ReadonlyMap<Commit, Outcome> => {
    try {
      return inTransaction(commits);
    } catch (error) {
      const [only, ...others] = commits;
      if (only !== undefined && others.length === 0) return new Map([[only, error as Error]]);
      // Nothing is written, and one view's failure must not stop the others.
      return new Map(commits.flatMap((commit) => [...committed([commit])]));
    }
  };
  /** The views that have folded the same page commit at the same time, and share a transaction. */
  const commitTogether = batched(async (commits: readonly Commit[]) => committed(commits));

  return {
    async get(view, id) {
      const text = reading(() => queries.get(view, id));
      return text === null ? null : parseDocument(text);
    },
    getMany: async (view, ids) => documentsOf(reading(() => queries.getMany(view, ids))),
    page: async (view, query) => foundOf(reading(() => queries.page(view, query))),
    count: async (view, where, atMost) => reading(() => queries.count(view, where, atMost)),
    next: async (view, field, after) => reading(() => queries.next(view, field, after)),
    position: async (view) => reading(() => queries.position(view)),
    origin: async (view) => reading(() => queries.origin(view)),

    // A commit of another process between the two reads moves the checkpoint, so the commit of this fold will be stale.
    load: async (view, after, ids) =>
      reading(() => {
        if (queries.position(view) !== after) return "stale";
        const documents = documentsOf(queries.getMany(view, ids));
        return new Map(ids.map((id) => [id, { document: documents.get(id) ?? null, position: null }]));
      }),

    async commit(view, after, upTo, { documents, record, absent = () => false }) {
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      const named = record === undefined ? null : JSON.stringify(nameOf(record));
      const commit: Commit = { view, after, upTo, named, documents, absent };
      const outcome = (await commitTogether(commit)).get(commit);
      if (outcome === "committed" || outcome === "stale") return outcome;
      throw outcome ?? new Error(`view ${view}: the commit has no outcome`);
    },

    drop: async (view, log) => writing(() => emptyView(database, byName, view, log)),

    async close() {
      if (database.isOpen) database.close();
    },
  };
};
