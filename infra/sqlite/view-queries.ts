import { LRUCache } from "lru-cache";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Condition, RecordName, ViewOrigin, ViewQuery, ViewSchema } from "../../domain/ports/view-store.ts";
import {
  comparableText,
  comparableValue,
  compareValues,
  fieldType,
  isDocumentId,
  isOfType,
  PAGE_MAX,
  schemaOf,
} from "../view-schema.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { indexName, quoted } from "./view-tables.ts";

export type Row = readonly [id: string, document: string];

export type ViewQueries = {
  get(view: string, id: string): string | null;
  getMany(view: string, ids: readonly string[]): readonly Row[];
  page(view: string, query: ViewQuery): readonly Row[];
  count(view: string, where: readonly Condition[], atMost: number): number;
  position(view: string): Position | null;
  origin(view: string): ViewOrigin | null;
};

const STATEMENTS_MAX = 256;
const IDS_PER_STATEMENT_MAX = 1_000;
const limited = (limit: number): number => Math.max(0, Math.min(limit, PAGE_MAX));

type Clause = { readonly sql: string; readonly value: string | number };

const isSatisfiable = (schema: ViewSchema, where: readonly Condition[]): boolean =>
  where.every(({ field, value }) => isOfType(value, fieldType(schema, field)));

/**
 * The index that SQLite is told to use (https://sqlite.org/lang_indexedby.html); null if none fits. Without statistics
 * it would prefer one of the cursor's bound, and walk through everything.
 */
const indexFor = ({ indexes }: ViewSchema, { where, sort, lead }: ViewQuery): readonly string[] | null => {
  const equal = new Set(where.flatMap(({ field, is }) => (is === "=" ? [field] : [])));
  const fitting = indexes.filter(
    (index) =>
      index.at(-1) === sort.field &&
      index.slice(0, -1).every((field) => equal.has(field)) &&
      (lead === undefined || index.includes(lead)),
  );
  const longest = Math.max(0, ...fitting.map(({ length }) => length));
  return fitting.findLast(({ length }) => length === longest) ?? null;
};

const OPERATORS: ReadonlySet<string> = new Set(["=", "<", "<=", ">", ">="] satisfies Condition["is"][]);

const clausesOf = (schema: ViewSchema, where: readonly Condition[]): readonly Clause[] =>
  where.map(({ field, is, value }) => {
    fieldType(schema, field);
    if (!OPERATORS.has(is)) throw new Error(`${JSON.stringify(is)} is no comparison`);
    return { sql: `${quoted(field)} ${is} ?`, value: comparableValue(value) };
  });

/**
 * Of a bound and a cursor, keeps the narrower one. With both, as in `at >= 5 AND (at, id) > (7, 'x')`, SQLite may seek
 * by the bound, so that deep pages read all earlier ones.
 */
const withoutSpareBound = ({ where, sort, after }: ViewQuery): Pick<ViewQuery, "where" | "after"> => {
  if (after === undefined) return { where };
  const strict = sort.order === "asc" ? ">" : "<";
  const sign = sort.order === "asc" ? 1 : -1;
  const isBound = ({ field, is }: Condition): boolean => field === sort.field && (is === strict || is === `${strict}=`);
  const beyond = where.some((condition) => {
    if (!isBound(condition)) return false;
    const distance = compareValues(comparableValue(condition.value), comparableValue(after.value)) * sign;
    return distance > 0 || (distance === 0 && condition.is === strict);
  });
  return beyond ? { where } : { where: where.filter((condition) => !isBound(condition)), after };
};

const whereOf = (clauses: readonly string[]): string => (clauses.length === 0 ? "" : `WHERE ${clauses.join(" AND ")}`);

const rowOf = ({ id, document }: SqlRow): Row => [String(id), String(document)];

/** Values are bound; only names from checked schemas are put into the SQL. */
export const viewQueries = (database: Database, schemas: ReadonlyMap<string, ViewSchema>): ViewQueries => {
  const statements = new LRUCache<string, Statement>({ max: STATEMENTS_MAX });
  const prepared = (sql: string): Statement => {
    const existing = statements.get(sql);
    if (existing !== undefined) return existing;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const table = (view: string): string => quoted(schemaOf(schemas, view).name);

  return {
    get(view, id) {
      const sql = `SELECT document FROM ${table(view)} WHERE id = ?`;
      const row = isDocumentId(id) ? prepared(sql).get(id) : undefined;
      return row === undefined ? null : String(row.document);
    },

    getMany(view, ids) {
      const sql = `SELECT id, document FROM ${table(view)} WHERE id IN (SELECT value FROM json_each(?))`;
      const possible = ids.filter(isDocumentId);
      const rows: Row[] = [];
      for (let from = 0; from < possible.length; from += IDS_PER_STATEMENT_MAX) {
        const chunk = JSON.stringify(possible.slice(from, from + IDS_PER_STATEMENT_MAX));
        for (const row of prepared(sql).all(chunk)) rows.push(rowOf(row));
      }
      return rows;
    },

    page(view, query) {
      const schema = schemaOf(schemas, view);
      const type = fieldType(schema, query.sort.field);
      const limit = limited(query.limit);
      if (query.after !== undefined && !isOfType(query.after.value, type)) return [];
      if (!isSatisfiable(schema, query.where)) return [];
      const { where, after } = withoutSpareBound(query);
      const clauses = clausesOf(schema, where);
      const index = indexFor(schema, query);
      const by = index === null ? "" : `INDEXED BY ${quoted(indexName(schema, index))}`;

      const field = quoted(query.sort.field);
      const order = query.sort.order === "asc" ? "ASC" : "DESC";
      const cursor = after === undefined ? [] : [`(${field}, id) ${order === "ASC" ? ">" : "<"} (?, ?)`];
      const sql = `SELECT id, document FROM ${table(view)} ${by}
        ${whereOf([...clauses.map((clause) => clause.sql), `${field} IS NOT NULL`, ...cursor])}
        ORDER BY ${field} ${order}, id ${order} LIMIT ?`;
      const values = clauses.map((clause) => clause.value);
      const behind = after === undefined ? [] : [comparableValue(after.value), comparableText(after.id)];
      return prepared(sql)
        .all(...values, ...behind, limit)
        .map(rowOf);
    },

    count(view, where, atMost) {
      const schema = schemaOf(schemas, view);
      if (!isSatisfiable(schema, where)) return 0;
      const clauses = clausesOf(schema, where);
      const matching = `SELECT 1 FROM ${table(view)} ${whereOf(clauses.map((clause) => clause.sql))} LIMIT ?`;
      const row = prepared(`SELECT count(*) AS n FROM (${matching})`).get(
        ...clauses.map(({ value }) => value),
        Math.max(atMost, 0),
      );
      return Number(row?.n);
    },

    position(view) {
      const row = prepared("SELECT position FROM views WHERE name = ?").get(schemaOf(schemas, view).name);
      return row === undefined || row.position === null ? null : String(row.position);
    },

    origin(view) {
      const sql = "SELECT origin, position, record FROM views WHERE name = ?";
      const row = prepared(sql).get(schemaOf(schemas, view).name);
      if (row === undefined || row.origin === null) return null;
      const { position, record } = row;
      // `commit` wrote the record's name as JSON.
      const name = record === null ? null : (JSON.parse(String(record)) as RecordName);
      const last = position === null || name === null ? null : { ...name, position: String(position) };
      // A drop is one transaction, so no view is ever half emptied.
      return { log: String(row.origin), isEmptied: true, last };
    },
  };
};
