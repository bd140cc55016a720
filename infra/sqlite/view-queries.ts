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
import type { Database, SqlRow, SqlValue, Statement } from "./driver.ts";
import {
  firstTimeFrom,
  type Layout,
  layoutOf,
  numberedId,
  othersOf,
  partsOf,
  quoted,
  tableOf,
  textOf,
  timeOf,
} from "./view-layout.ts";
import { indexName } from "./view-tables.ts";
import { NUMBER_OF_WORD, viewWords, type Words } from "./view-words.ts";

export type Row = readonly [id: string, document: string];

export type ViewQueries = {
  get(view: string, id: string): string | null;
  getMany(view: string, ids: readonly string[]): readonly Row[];
  page(view: string, query: ViewQuery): readonly Row[];
  count(view: string, where: readonly Condition[], atMost: number): number;
  next(view: string, field: string, after: string): string | null;
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

/** A column of times has numbers, except for texts that are no times, so a bound that is no time becomes the next one. */
const timeClause = (field: string, is: Condition["is"], value: string): Clause => {
  const ms = timeOf(value);
  if (ms !== null || is === "=") return { sql: `${quoted(field)} ${is} ?`, value: ms ?? value };
  return { sql: `${quoted(field)} ${is.startsWith("<") ? "<" : ">="} ?`, value: firstTimeFrom(value) };
};

const clauseOf = ({ schema, kinds }: Layout, { field, is, value: asked }: Condition): Clause => {
  fieldType(schema, field);
  if (!OPERATORS.has(is)) throw new Error(`${JSON.stringify(is)} is no comparison`);
  const kind = kinds.get(field);
  const value = comparableValue(asked);
  if (kind === "time") return timeClause(field, is, String(value));
  if (kind !== "word") return { sql: `${quoted(field)} ${is} ?`, value };
  if (is !== "=") throw new Error(`the values of ${field} are compared for equality alone`);
  return { sql: `${quoted(field)} = ${NUMBER_OF_WORD}`, value };
};

const clausesOf = (layout: Layout, where: readonly Condition[]): readonly Clause[] =>
  where.map((condition) => clauseOf(layout, condition));

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

type Ordered = { readonly order: string; readonly cursor: readonly string[]; readonly values: readonly SqlValue[] };

/** The id orders equal values. In a numbered view none are equal, as a search names the group. */
const orderOf = ({ kinds, numbered }: Layout, { sort, where }: ViewQuery, after: ViewQuery["after"]): Ordered => {
  const field = quoted(sort.field);
  const [order, beyond] = sort.order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
  const kind = kinds.get(sort.field);
  if (kind === "word") throw new Error(`nothing is sorted by ${sort.field}`);
  if (numbered !== null) {
    if (sort.field !== numbered.number || !where.some(({ field, is }) => field === numbered.group && is === "="))
      throw new Error(`a search is by ${numbered.number} of one ${numbered.group}`);
    const values = after === undefined ? [] : [after.value];
    return { order: `${field} ${order}`, cursor: values.map(() => `${field} ${beyond} ?`), values };
  }
  const by = { order: `${field} ${order}, id ${order}` };
  if (after === undefined) return { ...by, cursor: [], values: [] };
  const value = comparableValue(after.value);
  const ms = kind === "time" ? timeOf(String(value)) : null;
  const isBetween = kind === "time" && ms === null;
  const values = isBetween ? [firstTimeFrom(String(value)), ""] : [ms ?? value, comparableText(after.id)];
  return { ...by, cursor: [`(${field}, id) ${beyond} (?, ?)`], values };
};

type Prepare = (sql: string) => Statement;

const selected = ({ columns, numbered }: Layout): string =>
  [...(numbered === null ? ["id"] : []), "document", ...columns.map(({ name }) => quoted(name))].join(", ");

const rowOf = (layout: Layout, row: SqlRow, words: Words): Row => {
  const { numbered } = layout;
  const id = numbered && numberedId(words.wordOf(Number(row[numbered.group])), Number(row[numbered.number]));
  return [id ?? String(row.id), textOf(layout, row, words)];
};

const byId = (prepared: Prepare, layout: Layout, ids: readonly string[], words: Words): readonly Row[] => {
  const [table, columns] =
    layout.numbered === null ? [tableOf(layout.schema), selected(layout)] : [othersOf(layout.schema), "id, document"];
  const sql = `SELECT ${columns} FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`;
  const rows = prepared(sql).all(JSON.stringify(ids));
  return layout.numbered === null
    ? rows.map((row) => rowOf(layout, row, words))
    : rows.map(({ id, document }) => [String(id), String(document)]);
};

const byNumber = (prepared: Prepare, layout: Layout, ids: readonly string[], words: Words): readonly Row[] => {
  const { group: name = "", number = "" } = layout.numbered ?? {};
  const numbers = new Map<string, number[]>();
  for (const id of ids) {
    const parts = partsOf(id);
    if (parts === null) continue;
    const ofGroup = numbers.get(parts.group) ?? [];
    numbers.set(parts.group, ofGroup);
    ofGroup.push(parts.number);
  }
  const sql = `SELECT ${selected(layout)} FROM ${tableOf(layout.schema)}
    WHERE ${quoted(name)} = ${NUMBER_OF_WORD} AND ${quoted(number)} IN (SELECT value FROM json_each(?))`;
  return [...numbers].flatMap(([group, ofGroup]) =>
    prepared(sql)
      .all(group, JSON.stringify(ofGroup))
      .map((row) => rowOf(layout, row, words)),
  );
};

const foundIn = (prepared: Prepare, layout: Layout, ids: readonly string[], words: Words): readonly Row[] => {
  if (layout.numbered === null) return byId(prepared, layout, ids, words);
  const others = ids.filter((id) => partsOf(id) === null);
  const rows = others.length === ids.length ? [] : byNumber(prepared, layout, ids, words);
  return others.length === 0 ? rows : [...rows, ...byId(prepared, layout, others, words)];
};

/** Values are bound; only names from checked schemas are put into the SQL. */
export const viewQueries = (database: Database, schemas: ReadonlyMap<string, ViewSchema>): ViewQueries => {
  const words = viewWords(database);
  const layouts = new Map([...schemas].map(([name, schema]) => [name, layoutOf(schema)]));
  const statements = new LRUCache<string, Statement>({ max: STATEMENTS_MAX });
  const prepared = (sql: string): Statement => {
    const existing = statements.get(sql);
    if (existing !== undefined) return existing;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const layoutFor = (view: string): Layout => layouts.get(view) ?? layoutOf(schemaOf(schemas, view));
  const found = (view: string, ids: readonly string[]): readonly Row[] =>
    foundIn(prepared, layoutFor(view), ids, words);

  return {
    get(view, id) {
      const [row] = isDocumentId(id) ? found(view, [id]) : [];
      return row === undefined ? null : row[1];
    },

    getMany(view, ids) {
      const possible = ids.filter(isDocumentId);
      const rows: Row[] = [];
      for (let from = 0; from < possible.length; from += IDS_PER_STATEMENT_MAX)
        rows.push(...found(view, possible.slice(from, from + IDS_PER_STATEMENT_MAX)));
      return rows;
    },

    page(view, query) {
      const layout = layoutFor(view);
      const { schema } = layout;
      const type = fieldType(schema, query.sort.field);
      if (query.after !== undefined && !isOfType(query.after.value, type)) return [];
      if (!isSatisfiable(schema, query.where)) return [];
      const { where, after } = withoutSpareBound(query);
      const clauses = clausesOf(layout, where);
      const index = indexFor(schema, query);
      const by = index === null ? "" : `INDEXED BY ${quoted(indexName(schema, index))}`;
      const { order, cursor, values } = orderOf(layout, query, after);
      const sql = `SELECT ${selected(layout)} FROM ${tableOf(schema)} ${by}
        ${whereOf([...clauses.map((clause) => clause.sql), `${quoted(query.sort.field)} IS NOT NULL`, ...cursor])}
        ORDER BY ${order} LIMIT ?`;
      return prepared(sql)
        .all(...clauses.map(({ value }) => value), ...values, limited(query.limit))
        .map((row) => rowOf(layout, row, words));
    },

    count(view, where, atMost) {
      const layout = layoutFor(view);
      if (!isSatisfiable(layout.schema, where)) return 0;
      const clauses = clausesOf(layout, where);
      const matching = `SELECT 1 FROM ${tableOf(layout.schema)} ${whereOf(clauses.map((clause) => clause.sql))} LIMIT ?`;
      const row = prepared(`SELECT count(*) AS n FROM (${matching})`).get(
        ...clauses.map(({ value }) => value),
        Math.max(atMost, 0),
      );
      return Number(row?.n);
    },

    next(view, field, after) {
      const { schema, kinds } = layoutFor(view);
      fieldType(schema, field);
      const [column, table] = [quoted(field), tableOf(schema)];
      // Words are few, and those of other fields are passed over.
      const sql =
        kinds.get(field) === "word"
          ? `SELECT word AS value FROM words WHERE word > ?
             AND EXISTS (SELECT 1 FROM ${table} WHERE ${column} = n) ORDER BY word LIMIT 1`
          : `SELECT min(${column}) AS value FROM ${table} WHERE ${column} > ?`;
      const value = prepared(sql).get(comparableText(after))?.value ?? null;
      return value === null ? null : String(value);
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
