import { comment } from "./source-text.ts";
import {
  arrayOf,
  BOOLEAN,
  intersection,
  literal,
  type Member,
  NEVER,
  NULL,
  NUMBER,
  objectOf,
  STRING,
  type Type,
  tupleOf,
  UNKNOWN,
  union,
} from "./type-text.ts";

type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";
type JsonObject = Readonly<Record<string, unknown>>;

type Place = {
  readonly root: unknown;
  /** The `$ref`s that led to this schema: one that comes a second time is a cycle, and becomes `unknown`. */
  readonly refs: readonly string[];
  readonly kinds: readonly Kind[];
  /** True if the enclosing schema already allows members of any name, so that this part need not do so. */
  readonly isPart: boolean;
  readonly indent: string;
  readonly written: { parts: number };
};

const KINDS: readonly Kind[] = ["null", "boolean", "number", "string", "array", "object"];
const PARTS_MAX = 10_000;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const kindOf = (value: unknown): Kind => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "boolean" | "number" | "string" | "object";
};

/** The kinds of values that `type` allows; all of `allowed` if `type` is missing or unknown. */
const kindsOf = ({ type, nullable }: JsonObject, allowed: readonly Kind[]): readonly Kind[] => {
  if (type === undefined) return allowed;
  const names = [...(Array.isArray(type) ? type : [type]), ...(nullable === true ? ["null"] : [])];
  const kinds = names.map((name) => (name === "integer" ? "number" : name));
  const isKnown = kinds.every((kind) => KINDS.some((it) => it === kind));
  return isKnown ? allowed.filter((kind) => kinds.includes(kind)) : allowed;
};

/** What a `$ref` to a JSON Pointer in this document (RFC 6901, section 6) leads to; undefined for any other `$ref`. */
const resolved = (root: unknown, ref: string): unknown => {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let value = root;
  try {
    for (const token of decodeURIComponent(ref).split("/").slice(1)) {
      const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as JsonObject)[name];
    }
  } catch {
    return undefined;
  }
  return value;
};

const valueAt = (place: Place, schema: unknown, indent = place.indent): Type =>
  typeOf(schema, { ...place, kinds: KINDS, isPart: false, indent });

const referred = (ref: unknown, place: Place): Type => {
  if (typeof ref !== "string" || place.refs.includes(ref)) return UNKNOWN;
  return typeOf(resolved(place.root, ref), { ...place, refs: [...place.refs, ref] });
};

const arrayType = (schema: JsonObject, place: Place): Type => {
  const isDraft07 = Array.isArray(schema.items);
  const first = listOf(isDraft07 ? schema.items : schema.prefixItems);
  const rest = (isDraft07 ? schema.additionalItems : schema.items) ?? true;
  if (first.length === 0) return arrayOf(valueAt(place, rest));
  const { minItems, maxItems } = schema;
  const isFull = typeof maxItems === "number" && maxItems <= first.length;
  const types = first.map((it) => valueAt(place, it));
  return tupleOf(types, typeof minItems === "number" ? minItems : 0, isFull ? NEVER : valueAt(place, rest));
};

const describe = (schema: unknown, indent: string): string => {
  if (!isObject(schema)) return "";
  const { description, deprecated } = schema;
  const text = typeof description === "string" ? description : "";
  return comment(deprecated === true ? `${text}\n@deprecated` : text, indent);
};

const objectType = (schema: JsonObject, place: Place): Type => {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = listOf(schema.required).filter((name): name is string => typeof name === "string");
  const inner = `${place.indent}  `;
  const names = new Set([...Object.keys(properties), ...required]);
  const members = [...names].map((name): Member => {
    const value = Object.hasOwn(properties, name) ? properties[name] : true;
    const type = valueAt(place, value, inner);
    return { name, type, required: required.includes(name), comment: describe(value, inner) };
  });
  const { additionalProperties: others = true, patternProperties } = schema;
  const isByPattern = isObject(patternProperties) && Object.keys(patternProperties).length > 0;
  // TypeScript's index signature has to hold for named members, too, so only objects without any get one.
  if (members.length === 0 && !isByPattern) return objectOf([], valueAt(place, others, inner), place.indent);
  const isOpen = others !== false || isByPattern;
  const leftToTheWhole = place.isPart && members.length > 0;
  return objectOf(members, isOpen && !leftToTheWhole ? UNKNOWN : undefined, place.indent);
};

const ARRAY_KEYWORDS = ["items", "prefixItems"];
const OBJECT_KEYWORDS = ["properties", "required", "additionalProperties"];

const ownType = (schema: JsonObject, kinds: readonly Kind[], place: Place): Type => {
  const values = "const" in schema ? [schema.const] : schema.enum;
  if (Array.isArray(values)) return union(values.filter((it) => kinds.includes(kindOf(it))).map(literal));
  const says = ["type", ...ARRAY_KEYWORDS, ...OBJECT_KEYWORDS].some((keyword) => keyword in schema);
  if (!says) return UNKNOWN;
  const TYPES: Readonly<Record<Kind, () => Type>> = {
    null: () => NULL,
    boolean: () => BOOLEAN,
    number: () => NUMBER,
    string: () => STRING,
    array: () => arrayType(schema, place),
    object: () => objectType(schema, place),
  };
  return union(kinds.map((kind) => TYPES[kind]()));
};

const typeOf = (schema: unknown, place: Place): Type => {
  if (schema === false) return NEVER;
  place.written.parts += 1;
  if (!isObject(schema) || place.written.parts > PARTS_MAX) return UNKNOWN;
  const kinds = kindsOf(schema, place.kinds);
  const own = ownType(schema, kinds, place);
  const saysMembers = own.text !== UNKNOWN.text && kinds.includes("object");
  const part: Place = { ...place, kinds, isPart: place.isPart || saysMembers };
  const parts = [own];
  if ("$ref" in schema) parts.push(referred(schema.$ref, part));
  for (const it of listOf(schema.allOf)) parts.push(typeOf(it, part));
  for (const either of [schema.anyOf, schema.oneOf])
    if (Array.isArray(either)) parts.push(union(either.map((it) => typeOf(it, part))));
  return intersection(parts);
};

/**
 * Every value that the schema (2020-12 or draft-07) allows has this type. Constraints that TypeScript lacks are left
 * out, and a reference that leads nowhere becomes `unknown`. References are looked up in `root`.
 */
export const schemaType = (schema: unknown, indent = "", root = schema): Type =>
  typeOf(schema, { root, refs: ["#"], kinds: KINDS, isPart: false, indent, written: { parts: 0 } });
