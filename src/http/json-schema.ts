import { defined } from "../../domain/defined.ts";
import type { BytesRemoved } from "../../domain/ports/event-log.ts";
import { named } from "./named-schemas.ts";
import type { JsonSchema } from "./route.ts";
import { NOT_BLANK } from "./validation.ts";

export const nonBlank = (maxLength: number) =>
  ({ type: "string", minLength: 1, maxLength, pattern: NOT_BLANK }) as const satisfies JsonSchema;

export const text = { type: "string" } as const satisfies JsonSchema;
export const integer = { type: "integer" } as const satisfies JsonSchema;
export const number: JsonSchema = { type: "number" };
export const time = { type: "string", format: "date-time" } as const satisfies JsonSchema;
export const nullableTime: JsonSchema = { type: ["string", "null"], format: "date-time" };

const BYTES_REMOVED_VALUES: readonly BytesRemoved[] = ["within-seconds", "with-the-next-scavenge"];

export const BYTES_REMOVED: JsonSchema = {
  type: "string",
  enum: BYTES_REMOVED_VALUES,
  description:
    "When the bytes of an erased payload leave the log's files; this service shows them to nobody any more. within-seconds: by " +
    "itself. with-the-next-scavenge: when an operator scavenges EventStoreDB, which rewrites full chunks (256 MB) only",
};

export const nullable = (type: string, description?: string): JsonSchema =>
  defined({ type: [type, "null"], description });

/** If a type is given as `T`, a schema that leaves out one of its members does not compile. */
export const object = <T extends object = Record<string, unknown>>(
  properties: Readonly<Record<keyof T, JsonSchema>>,
  required = Object.keys(properties),
): JsonSchema => ({ type: "object", required, properties });

export const REASON_LENGTH_MAX = 500;

export const REASON_BODY = named("Reason", {
  type: "object",
  required: ["reason"],
  additionalProperties: false,
  properties: { reason: nonBlank(REASON_LENGTH_MAX) },
  examples: [{ reason: "A customer asked for it" }],
});

export const OPTIONAL_REASON_BODY = named("OptionalReason", {
  type: "object",
  additionalProperties: false,
  properties: { reason: nonBlank(REASON_LENGTH_MAX) },
  examples: [{ reason: "Wrong order" }],
});

/** `id`: of one value, or of the member whose data it was. */
export const PERSONAL_DATA_ERASED: JsonSchema = named(
  "PersonalDataErased",
  object({ id: text, erased_at: time, bytes_removed: BYTES_REMOVED }),
);
