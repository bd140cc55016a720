import type { Document, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { nameOf } from "../record-name.ts";
import { ViewsUnavailable } from "../view-errors.ts";
import { comparable, isDocumentId, schemaOf, schemasByName } from "../view-schema.ts";
import type { Database, SqlValue, Statement } from "./driver.ts";
import { type Row, viewQueries } from "./view-queries.ts";
import { emptyView, isEngineError, openViews, quoted } from "./view-tables.ts";

export type SqliteViewStoreOptions = {
  readonly path: string;
  readonly schemas: readonly ViewSchema[];
};

type Fields = readonly (readonly [field: string, type: ViewSchema["fields"][string]])[];

type Writer = {
  readonly advance: Statement;
  readonly upsert: Statement;
  readonly remove: Statement;
  readonly fields: Fields;
};

const writerOf = (database: Database, { name, fields }: ViewSchema): Writer => {
  const columns = ["document", ...Object.keys(fields)].map(quoted);
  return {
    advance: database.prepare(`UPDATE views SET position = ?, record = ? WHERE name = '${name}' AND position IS ?`),
    upsert: database.prepare(
      `INSERT INTO ${quoted(name)} (id, ${columns.join(", ")}) VALUES (?${", ?".repeat(columns.length)})
       ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    ),
    remove: database.prepare(`DELETE FROM ${quoted(name)} WHERE id = ?`),
    fields: Object.entries(fields),
  };
};

/** A row has the id, the text and a value for each declared field, or the id alone for a document to remove. */
const rowOf = (view: string, id: string, document: Document | null, fields: Fields): readonly SqlValue[] => {
  if (!isDocumentId(id)) throw new TypeError(`view ${view}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
  if (document === null) return [id];
  const values: SqlValue[] = [id, JSON.stringify(document)];
  for (const [field, type] of fields) values.push(comparable(document, field, type));
  return values;
};

/** `rowOf` stored the text, so it is a document. */
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
  const writing = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
      throw new ViewsUnavailable(`${path}: nothing was written`, { cause: error });
    }
  };

  return {
    async get(view, id) {
      const text = reading(() => queries.get(view, id));
      return text === null ? null : parseDocument(text);
    },
    getMany: async (view, ids) => documentsOf(reading(() => queries.getMany(view, ids))),
    page: async (view, query) => foundOf(reading(() => queries.page(view, query))),
    count: async (view, where, atMost) => reading(() => queries.count(view, where, atMost)),
    position: async (view) => reading(() => queries.position(view)),
    origin: async (view) => reading(() => queries.origin(view)),

    // A commit of another process between the two reads moves the checkpoint, so the commit of this fold will be stale.
    load: async (view, after, ids) =>
      reading(() => {
        if (queries.position(view) !== after) return "stale";
        const documents = documentsOf(queries.getMany(view, ids));
        return new Map(ids.map((id) => [id, { document: documents.get(id) ?? null, position: null }]));
      }),

    async commit(view, after, upTo, { documents, record, absent }) {
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      const write = writing(() => writer(view));
      // An error here is a projection's bug and not the engine's failure, so the rows are made before the transaction.
      const rows: (readonly SqlValue[])[] = [];
      for (const [id, document] of documents)
        if (document !== null || absent?.(id) !== true) rows.push(rowOf(view, id, document, write.fields));
      const named = record === undefined ? null : JSON.stringify(nameOf(record));
      return writing(() => {
        database.exec("BEGIN IMMEDIATE");
        if (Number(write.advance.run(upTo, named, after).changes) === 0) {
          database.exec("ROLLBACK");
          return "stale";
        }
        for (const row of rows) (row.length === 1 ? write.remove : write.upsert).run(...row);
        database.exec("COMMIT");
        return "committed";
      });
    },

    drop: async (view, log) => writing(() => emptyView(database, byName, view, log)),

    async close() {
      if (database.isOpen) database.close();
    },
  };
};
