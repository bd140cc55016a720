import type { Json } from "../../domain/json.ts";
import type { Document, ViewSchema } from "../../domain/ports/view-store.ts";
import { comparableText } from "../view-schema.ts";

/**
 * A document as it lies in its collection, for analysts to read: the view's own fields as native BSON, and beside them
 * what begins with an underscore. Of a removed one only these are left.
 */
export type StoredDocument = {
  readonly _id: string;
  /** How far in the log it is folded, behind the number of the view's generation. */
  readonly _position: string;
  /** When it was removed. The server takes it away some time later. */
  readonly _removed?: Date;
  /**
   * The document as JSON text, where BSON or MongoDB's comparisons cannot take it as it is; reads return this. The fields
   * beside it are then as near as can be: lone surrogates are U+FFFD, and so is NUL in a field that is searched by; `$`
   * before and `.` within a name have the full width; names with a meaning for the driver end in `_`; top-level names
   * that begin with `_` are left out, as are lists in fields that are searched by; what is nested deeply is JSON text.
   */
  readonly _exact?: string;
  readonly [field: string]: unknown;
};

/** MongoDB takes 100 levels; a few are left for what analysts wrap documents in. */
const DEPTH_MAX = 80;
/** As BSON is UTF-8, which has no lone surrogates. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
/** MongoDB reads them as operators or paths, BSON ends at NUL, the driver makes values of its own of them, or a prototype. */
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

/** MongoDB finds a document by each item of a list; the other engines find it by none. Text with NUL is compared as is. */
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

/** `document` null: what is left of a removed one, so that a slower projector does not bring it back. */
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

/** Null for a removed one. */
export const documentOf = ({ _id, _position, ...stored }: StoredDocument): Document | null => {
  if (stored._removed !== undefined) return null;
  // Written by `storedDocument` alone: the text and the fields are the JSON of a document.
  return (typeof stored._exact === "string" ? JSON.parse(stored._exact) : stored) as Document;
};
