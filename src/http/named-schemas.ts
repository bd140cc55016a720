import { isDeepStrictEqual } from "node:util";
import { defined } from "../../domain/defined.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Gives the schema the name under which OpenAPI's `components/schemas` has it, once for all places that use it. */
export const named = <const S extends JsonSchema>(title: string, schema: S): S & { readonly title: string } => ({
  ...schema,
  title,
});

/** A name for the pages of a list of items with this name; undefined if the items have none. */
export const pageNameOf = ({ title }: JsonSchema): string | undefined =>
  typeof title === "string" ? `${title}List` : undefined;

type Found = Map<string, JsonSchema>;

const MAPS = ["properties", "patternProperties"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE = ["items", "additionalProperties", "not"];

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const withoutDescription = ({ description: _, ...rest }: JsonSchema): JsonSchema => rest;

const keep = (found: Found, name: string, schema: JsonSchema): void => {
  const before = found.get(name);
  if (before !== undefined && !isDeepStrictEqual(withoutDescription(before), withoutDescription(schema))) {
    throw new Error(`two different schemas have the name ${name}`);
  }
  if (before === undefined) found.set(name, schema);
};

const inside = (keyword: string, value: unknown, found: Found): unknown => {
  if (MAPS.includes(keyword) && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, referring(it, found)]));
  }
  if (LISTS.includes(keyword) && Array.isArray(value)) return value.map((it) => referring(it, found));
  return SINGLE.includes(keyword) ? referring(value, found) : value;
};

const SHAPES = ["properties", "patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf"];

/** Generators take an object of which nothing is said for an empty one, so it is said that any member is allowed. */
const withAnyMember = (schema: JsonSchema): JsonSchema => {
  const isObject = [schema.type].flat().includes("object");
  return isObject && !SHAPES.some((keyword) => keyword in schema) ? { ...schema, additionalProperties: true } : schema;
};

/** The schema with a reference in place of each schema that has a name; those are added to `found`. */
export const referring = (value: unknown, found: Found): unknown => {
  if (!isSchema(value)) return value;
  const { title, ...schema } = withAnyMember(
    Object.fromEntries(Object.entries(value).map(([keyword, it]) => [keyword, inside(keyword, it, found)])),
  );
  if (typeof title !== "string") return schema;
  const { type } = schema;
  const others = Array.isArray(type) ? type.filter((it) => it !== "null") : [];
  const isNullable = Array.isArray(type) && others.length < type.length;
  const whole = isNullable ? { ...schema, type: others.length === 1 ? others[0] : others } : schema;
  keep(found, title, whole);
  const reference = { $ref: `#/components/schemas/${title}` };
  const kept = found.get(title)?.description;
  const description = schema.description === kept ? undefined : schema.description;
  return { ...(isNullable ? { anyOf: [reference, { type: "null" }] } : reference), ...defined({ description }) };
};
