import type { Position } from "../../domain/ports/event-log.ts";
import type {
  Condition,
  Document,
  ViewOrigin,
  ViewQuery,
  ViewSchema,
  ViewStore,
} from "../../domain/ports/view-store.ts";
import { nameOf } from "../record-name.ts";
import {
  comparable,
  comparableValue,
  compareValues,
  fieldType,
  isDocumentId,
  isOfType,
  schemaOf,
  schemasByName,
} from "../view-schema.ts";

type StoredView = {
  position: Position | null;
  last: ViewOrigin["last"];
  log: string | null;
  readonly documents: Map<string, string>;
};
type Value = string | number;

const parse = (text: string): Document => JSON.parse(text) as Document; // Only `commit` writes the text.

const HOLDS: Readonly<Record<Condition["is"], (order: number) => boolean>> = {
  "=": (order) => order === 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

const matches = (schema: ViewSchema, document: Document, where: readonly Condition[]): boolean =>
  where.every(({ field, is, value }) => {
    const type = fieldType(schema, field);
    const stored = comparable(document, field, type);
    if (stored === null || !isOfType(value, type)) return false;
    return HOLDS[is](compareValues(stored, comparableValue(value)));
  });

type Sortable = { readonly id: string; readonly value: Value; readonly document: Document };

const compare = (a: { readonly id: string; readonly value: Value }, b: typeof a): number =>
  compareValues(a.value, b.value) || compareValues(a.id, b.id);

const pageOf = (schema: ViewSchema, all: Iterable<readonly [string, Document]>, query: ViewQuery) => {
  const { where, sort, after, limit } = query;
  const type = fieldType(schema, sort.field);
  const sign = sort.order === "asc" ? 1 : -1;
  if (after !== undefined && !isOfType(after.value, type)) return [];
  const cursor = after && { id: after.id, value: comparableValue(after.value) };
  const found: Sortable[] = [];
  for (const [id, document] of all) {
    const value = comparable(document, sort.field, type);
    if (value === null || !matches(schema, document, where)) continue;
    const candidate = { id, value, document };
    if (cursor === undefined || compare(candidate, cursor) * sign > 0) found.push(candidate);
  }
  found.sort((a, b) => compare(a, b) * sign);
  return found.slice(0, limit).map(({ id, document }) => ({ id, document }));
};

export const memoryViewStore = (schemas: readonly ViewSchema[]): ViewStore => {
  const byName = schemasByName(schemas);
  const views = new Map<string, StoredView>();
  const viewOf = (view: string): StoredView => {
    const existing = views.get(schemaOf(byName, view).name);
    const stored = existing ?? { position: null, last: null, log: null, documents: new Map() };
    views.set(view, stored);
    return stored;
  };
  function* documentsOf(view: string): Generator<readonly [string, Document]> {
    for (const [id, text] of viewOf(view).documents) yield [id, parse(text)];
  }

  return {
    async get(view, id) {
      const text = viewOf(view).documents.get(id);
      return text === undefined ? null : parse(text);
    },
    async getMany(view, ids) {
      const { documents } = viewOf(view);
      const found = new Map<string, Document>();
      for (const id of ids) {
        const text = documents.get(id);
        if (text !== undefined) found.set(id, parse(text));
      }
      return found;
    },
    page: async (view, query) => pageOf(schemaOf(byName, view), documentsOf(view), query),
    async count(view, where, atMost) {
      const schema = schemaOf(byName, view);
      let count = 0;
      for (const [, document] of documentsOf(view)) if (count < atMost && matches(schema, document, where)) count += 1;
      return count;
    },
    async next(view, field, after) {
      const schema = schemaOf(byName, view);
      if (fieldType(schema, field) !== "text") throw new Error(`${field} is no text`);
      const values = [...documentsOf(view)].flatMap(([, document]) => comparable(document, field, "text") ?? []);
      return (
        values
          .map(String)
          .filter((it) => compareValues(it, comparableValue(after)) > 0)
          .sort(compareValues)[0] ?? null
      );
    },
    position: async (view) => viewOf(view).position,
    async origin(view) {
      const { log, last } = viewOf(view);
      return log === null ? null : { log, isEmptied: true, last };
    },
    async load(view, after, ids) {
      const { position, documents } = viewOf(view);
      if (position !== after) return "stale";
      const documentOf = (id: string): Document | null => {
        const text = documents.get(id);
        return text === undefined ? null : parse(text);
      };
      return new Map(ids.map((id) => [id, { document: documentOf(id), position: null }]));
    },
    async commit(view, after, upTo, { documents, record }) {
      const stored = viewOf(view);
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      const texts = [...documents].map(([id, document]) => {
        if (!isDocumentId(id))
          throw new TypeError(`view ${view}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
        return [id, document === null ? null : JSON.stringify(document)] as const;
      });
      if (stored.position !== after) return "stale";
      for (const [id, text] of texts) {
        if (text === null) stored.documents.delete(id);
        else stored.documents.set(id, text);
      }
      stored.position = upTo;
      stored.last = record === undefined ? null : { position: upTo, ...nameOf(record) };
      return "committed";
    },
    async drop(view, log) {
      const stored = viewOf(view);
      stored.log = log;
      stored.documents.clear();
      stored.position = null;
      stored.last = null;
    },
    close: async () => undefined,
  };
};
