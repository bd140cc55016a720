import type { Json } from "../../domain/json.ts";
import type { Document, ViewSchema } from "../../domain/ports/view-store.ts";
import { comparableText } from "../view-schema.ts";

/** Fields with a leading underscore are the store's own, and a removed document has no others. */
export type StoredDocument = {
  readonly _id: string;
  /** The view's generation, a dot, and the log's position up to which the document is folded. */
  readonly _position: string;
  readonly _removed?: Date;
  /** The document as JSON text, if BSON cannot represent it; its other fields are then approximate, for analysts. */
  readonly _exact?: string;
  readonly [field: string]: unknown;
};

const DEPTH_MAX = 80;
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
/** A document with such a name, which MongoDB, BSON, the driver or a prototype would interpret, is kept as text. */
const NAME_TAKEN = /^$|^\$|[.\0]|\p{Surrogate}|^(?:__proto__|_bsontype|toBSON)$/u;
const NAMES_OF_THE_DRIVER: ReadonlySet<string> = new Set(["", "__proto__", "_bsontype", "toBSON"]);

const isExact = (value: Json | undefined, depth: number): boolean => {
  if (typeof value === "string") return !LONE_SURROGATE.test(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value !== "object") return true;
  if (depth === DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item) => isExact(item, depth + 1));
  for (const [name, member] of Object.entries(value))
    if (NAME_TAKEN.test(name) || !isExact(member, depth + 1)) return false;
  return true;
};

const nearName = (name: string): string =>
  NAMES_OF_THE_DRIVER.has(name)
    ? `${name}_`
    : name
        .replace(/^\$/, "\uff04")
        .replaceAll(".", "\uff0e")
        .replaceAll("\0", "\ufffd")
        .replace(LONE_SURROGATES, "\ufffd");

const near = (value: Json, depth: number): Json => {
  if (typeof value === "string") return value.replace(LONE_SURROGATES, "\ufffd");
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value === null || typeof value !== "object") return value;
  if (depth === DEPTH_MAX) return near(JSON.stringify(value), 0);
  if (Array.isArray(value)) return value.map((item) => near(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [nearName(name), near(member, depth + 1)]));
};

/** False for a list, by each item of which MongoDB would find the document, and for a NUL, which queries replace. */
const isSearchable = (value: Json | undefined): boolean =>
  typeof value === "string" ? !value.includes("\0") : !Array.isArray(value);

const isExactAtTop = ({ fields }: ViewSchema, document: Document): boolean => {
  for (const name in document) {
    if (name.startsWith("_")) return false;
    if (Object.hasOwn(fields, name) && !isSearchable(document[name])) return false;
  }
  return isExact(document, 0);
};

const nearFields = ({ fields }: ViewSchema, document: Document): Record<string, Json> => {
  const native: Record<string, Json> = {};
  for (const [name, value] of Object.entries(document)) {
    if (name.startsWith("_")) continue;
    const isSearched = Object.hasOwn(fields, name);
    if (isSearched && Array.isArray(value)) continue;
    native[nearName(name)] = isSearched && typeof value === "string" ? comparableText(value) : near(value, 1);
  }
  return native;
};

/** A removed document leaves a remainder, which keeps a slower projector from restoring it. */
export const storedDocument = (
  schema: ViewSchema,
  _id: string,
  _position: string,
  document: Document | null,
): StoredDocument => {
  if (document === null) return { _id, _position, _removed: new Date() };
  if (isExactAtTop(schema, document)) return { _id, _position, ...document };
  return { _id, _position, _exact: JSON.stringify(document), ...nearFields(schema, document) };
};

export const documentOf = ({ _id, _position, ...stored }: StoredDocument): Document | null => {
  if (stored._removed !== undefined) return null;
  // Only `storedDocument` writes documents, so this is one.
  return (typeof stored._exact === "string" ? JSON.parse(stored._exact) : stored) as Document;
};
