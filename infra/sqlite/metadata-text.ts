import type { Actor, Metadata } from "../../domain/ports/event-log.ts";

/** The values of a record's metadata in this order, without their names; `parent_span_id` is last, and may be absent. */
type Values = readonly [
  account: string,
  actorKind: Actor["kind"],
  actorId: string,
  commandId: string,
  traceId: string,
  spanId: string,
  causationId: string | null,
  recordedAt: string,
  schema: number,
  parentSpanId?: string,
];

const NAMES = 8;
const ACTOR_NAMES = 2;
const VALUES_MIN = 9;
const VALUES_MAX = 10;

const hasOtherNames = (meta: Metadata): boolean =>
  Object.keys(meta).length !== (meta.parent_span_id === undefined ? NAMES : NAMES + 1) ||
  Object.keys(meta.actor).length !== ACTOR_NAMES;

/** A JSON array. The names of an object would be a third of the metadata's bytes, and a tenth of the log's. */
export const metadataText = (meta: Metadata): string => {
  const { account, actor, command_id, trace_id, span_id, parent_span_id, causation_id, recorded_at, schema } = meta;
  const values = [account, actor.kind, actor.id, command_id, trace_id, span_id, causation_id, recorded_at, schema];
  // Another program may have written such metadata to a log that is copied here.
  if (hasOtherNames(meta) || values.includes(undefined as never)) return JSON.stringify(meta);
  return JSON.stringify(parent_span_id === undefined ? values : [...values, parent_span_id]);
};

/** Above the number of characters by which the JSON of an object is longer than its `metadataText`. */
export const NAMES_MAX_LENGTH = 160;

/** Throws for a text that is not that of metadata. */
export const metadataIn = (text: string): Metadata => {
  // Only `metadataText` writes these texts.
  const stored = JSON.parse(text) as Values | Metadata;
  if (!Array.isArray(stored)) return stored as Metadata;
  if (stored.length < VALUES_MIN || stored.length > VALUES_MAX) throw new TypeError("values are missing or too many");
  const [account, kind, id, command_id, trace_id, span_id, causation_id, recorded_at, schema, parent_span_id] =
    stored as unknown as Values;
  const actor = { kind, id };
  return parent_span_id === undefined
    ? { account, actor, command_id, trace_id, span_id, causation_id, recorded_at, schema }
    : { account, actor, command_id, trace_id, span_id, parent_span_id, causation_id, recorded_at, schema };
};
