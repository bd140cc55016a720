import type { JsonObject } from "../../domain/json.ts";

/** JSON Schema 2020-12. */
export type JsonSchema = JsonObject;

/** An object that allows no further members. */
export type ClosedObject = {
  readonly type: "object";
  readonly description: string;
  readonly additionalProperties: false;
  readonly required: readonly string[];
  readonly properties: { readonly [name: string]: JsonSchema };
};

/** An optional member is a list, so that the compiler distinguishes it from a schema. */
type Optional = readonly [JsonSchema];

/** A difference between a type and its schema does not compile. */
type MembersOf<T> = { readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? Optional : JsonSchema };

export const optional = (schema: JsonSchema): Optional => [schema];

/** The type has to be given: `closed<MemberDocument>(…)`. */
export const closed = <T extends object>(description: string, members: MembersOf<T>): ClosedObject => {
  // The compiler cannot know the values of a mapped type of an unknown T.
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

/** RFC 3339, always UTC with milliseconds. */
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
