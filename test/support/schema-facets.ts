import type { Json, JsonObject } from "../../domain/json.ts";
import type { JsonSchema } from "../../projections/schemas/json-schema.ts";

/**
 * What a document can show of a schema, by its path: each member, each kind of a choice, null and a value where both are
 * allowed. A schema of which something is never shown describes what nobody writes.
 */

type Part = { readonly path: string; readonly schema: JsonSchema };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const choicesOf = ({ path, schema }: Part): readonly Part[] => {
  const choices = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(choices)) return [];
  return choices.filter(isObject).map((choice, index) => ({ path: `${path}|${index}`, schema: choice }));
};

const membersOf = ({ path, schema }: Part): readonly (Part & { readonly name: string })[] =>
  Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, member]) =>
    isObject(member) ? { name, path: `${path}/${name}`, schema: member } : [],
  );

const itemsOf = ({ path, schema }: Part): readonly Part[] =>
  isObject(schema.items) ? [{ path: `${path}[]`, schema: schema.items }] : [];

const mayBeNull = ({ type }: JsonSchema): boolean => Array.isArray(type) && type.includes("null");

const facets = function* (part: Part): Generator<string> {
  const { path, schema } = part;
  if (mayBeNull(schema)) yield* [`${path} is null`, `${path} is not null`];
  else yield path;
  for (const inner of [...choicesOf(part), ...membersOf(part), ...itemsOf(part)]) yield* facets(inner);
};

const shown = function* (part: Part, value: Json, conforms: Conforms): Generator<string> {
  const { path, schema } = part;
  if (mayBeNull(schema)) yield value === null ? `${path} is null` : `${path} is not null`;
  else yield path;
  for (const choice of choicesOf(part)) if (conforms(choice.schema, value)) yield* shown(choice, value, conforms);
  if (Array.isArray(value)) {
    for (const item of itemsOf(part)) for (const each of value) yield* shown(item, each, conforms);
  } else if (isObject(value)) {
    for (const { name, ...member } of membersOf(part)) {
      const inner = value[name];
      if (inner !== undefined) yield* shown(member, inner, conforms);
    }
  }
};

type Conforms = (schema: JsonSchema, value: Json) => boolean;

export const facetsOf = (schema: JsonSchema): ReadonlySet<string> => new Set(facets({ path: "", schema }));

export const facetsSeen = (schema: JsonSchema, value: Json, conforms: Conforms): ReadonlySet<string> =>
  new Set(shown({ path: "", schema }, value, conforms));
