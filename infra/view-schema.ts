import type { Document, ViewSchema } from "../domain/ports/view-store.ts";

const VIEW_NAME = /^[a-z][a-z0-9_-]{0,47}\.v[1-9][0-9]{0,3}$/;
const FIELD_NAME = /^[a-z][a-zA-Z0-9_]{0,62}$/;
const RESERVED = new Set(["id", "document"]);
const ID_LENGTH_MAX = 512;
/** The most documents of a page. Lists show 100 at most, but background work may read more at once. */
export const PAGE_MAX = 10_000;

type FieldType = ViewSchema["fields"][string];

const checkSchema = ({ name, fields, indexes }: ViewSchema): void => {
  if (!VIEW_NAME.test(name)) throw new TypeError(`the view name ${JSON.stringify(name)} is not like events.v2`);
  const seen = new Set<string>();
  for (const [field, type] of Object.entries(fields)) {
    const folded = field.toLowerCase();
    if (!FIELD_NAME.test(field) || RESERVED.has(folded) || seen.has(folded))
      throw new TypeError(`view ${name}: ${JSON.stringify(field)} is no field name, is reserved or is there twice`);
    if (type !== "text" && type !== "number") throw new TypeError(`view ${name}: field ${field} has no known type`);
    seen.add(folded);
  }
  for (const index of indexes) {
    const unknown = index.find((field) => !Object.hasOwn(fields, field));
    if (unknown !== undefined || index.length === 0 || new Set(index).size !== index.length)
      throw new TypeError(`view ${name}: the index [${index.join(", ")}] is not a list of distinct declared fields`);
  }
};

export const schemasByName = (schemas: readonly ViewSchema[]): ReadonlyMap<string, ViewSchema> => {
  const byName = new Map<string, ViewSchema>();
  for (const schema of schemas) {
    checkSchema(schema);
    if (byName.has(schema.name)) throw new TypeError(`the view ${schema.name} is declared twice`);
    byName.set(schema.name, schema);
  }
  return byName;
};

export const schemaOf = (schemas: ReadonlyMap<string, ViewSchema>, view: string): ViewSchema => {
  const schema = schemas.get(view);
  if (schema === undefined) throw new Error(`the view ${JSON.stringify(view)} is not declared`);
  return schema;
};

export const fieldType = ({ name, fields }: ViewSchema, field: string): FieldType => {
  const type = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (type === undefined) throw new Error(`the view ${name} declares no field ${JSON.stringify(field)}`);
  return type;
};

/** Cursors come from callers, so a value of another type than its field is no error: it just finds no document. */
export const isOfType = (value: unknown, type: FieldType): value is string | number =>
  type === "text" ? typeof value === "string" : typeof value === "number" && Number.isFinite(value);

/** Nearly every text is printable ASCII, which is seen faster. */
const PLAIN = /^[ -~]*$/;
const NOT_COMPARABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** SQLite drivers may cut text at a NUL, and UTF-8 has no lone surrogates, so comparisons replace both with U+FFFD. */
export const comparableText = (text: string): string =>
  PLAIN.test(text) ? text : text.replace(NOT_COMPARABLE, "\ufffd");

export const comparable = (document: Document, field: string, type: FieldType): string | number | null => {
  const value = Object.hasOwn(document, field) ? document[field] : null;
  return isOfType(value, type) ? comparableValue(value) : null;
};

export const comparableValue = (value: string | number): string | number =>
  typeof value === "string" ? comparableText(value) : value;

/** Text is ordered by code point, as in SQLite and MongoDB; UTF-16 units would put U+1F600 before U+FFFD. */
export const compareValues = (a: string | number, b: string | number): number => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
};

export const isDocumentId = (id: string): boolean =>
  id.length > 0 && id.length <= ID_LENGTH_MAX && comparableText(id) === id;
