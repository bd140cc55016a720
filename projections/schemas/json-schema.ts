import type { JsonObject } from "../../domain/json.ts";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = JsonObject;

/** The schema of an object without members beyond the named ones. */
export type ClosedObject = {
  readonly type: "object";
  readonly description: string;
  readonly additionalProperties: false;
  readonly required: readonly string[];
  readonly properties: { readonly [name: string]: JsonSchema };
};

/** The schema of an optional member, in a list so that the compiler tells it from that of a required member. */
type Optional = readonly [JsonSchema];

/** The schemas of T's members. If a member is missing, or is optional in T alone, the program does not compile. */
type MembersOf<T> = { readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? Optional : JsonSchema };

export const optional = (schema: JsonSchema): Optional => [schema];

/** T has to be given, as in `closed<MemberDocument>(…)`: the compiler cannot derive it from the members. */
export const closed = <T extends object>(description: string, members: MembersOf<T>): ClosedObject => {
  // The cast is safe: `MembersOf` has no other values, which the compiler cannot see for an unknown T.
  const entries = Object.entries(members) as [string, JsonSchema | Optional][];
  const isOptional = (schema: JsonSchema | Optional): schema is Optional => Array.isArray(schema);
  return {
    type: "object",
    description,
    additionalProperties: false,
    required: entries.filter(([, schema]) => !isOptional(schema)).map(([name]) => name),
    properties: Object.fromEntries(
      entries.map(([name, schema]) => [name, isOptional(schema) ? schema[0] : schema] as const),
    ),
  };
};

export const text = (description: string): JsonSchema => ({ type: "string", description });

/** A time of RFC 3339, always in UTC and with milliseconds. */
export const time = (description: string): JsonSchema => ({ type: "string", format: "date-time", description });

export const count = (description: string): JsonSchema => ({ type: "integer", minimum: 0, description });

export const amount = (description: string): JsonSchema => ({ type: "number", minimum: 0, description });

export const flag = (description: string): JsonSchema => ({ type: "boolean", description });

export const oneOf = (values: readonly (string | number)[], description: string): JsonSchema => ({
  enum: values,
  description,
});

export const list = (items: JsonSchema, description: string): JsonSchema => ({ type: "array", items, description });

export const orNull = (schema: JsonSchema, when: string): JsonSchema => {
  const { description, ...rest } = schema;
  const said = `${description} Null: ${when}`;
  return typeof rest.type === "string" && rest.type !== "object"
    ? { ...rest, type: [rest.type, "null"], description: said }
    : { anyOf: [rest, { type: "null" }], description: said };
};
