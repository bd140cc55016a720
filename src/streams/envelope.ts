import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { Actor, Metadata, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";

export type Trace = {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
};

export const NO_TRACE: Trace = { trace_id: "0".repeat(32), span_id: "0".repeat(16) };

/** The trace that a record belongs to. One without a trace starts a trace, whose ids are derived from its own id. */
export const traceOfRecord = ({ id, meta }: Pick<RecordedEvent, "id" | "meta">): Trace => {
  if (meta.trace_id !== NO_TRACE.trace_id) return { trace_id: meta.trace_id, span_id: meta.span_id };
  const h = hash("sha256", `trace/${id}`);
  return { trace_id: h.slice(0, 32), span_id: h.slice(32, 48) };
};

/** What all records of one command have in common. Two envelopes with the same `commandId` are the same command. */
export type Envelope = {
  readonly commandId: string;
  readonly account: string;
  readonly actor: Actor;
  readonly trace: Trace;
  readonly at: string;
  readonly causationId?: string;
};

type SystemEnvelope = Pick<Envelope, "commandId" | "at" | "causationId"> & {
  readonly actor: string;
  readonly account?: string;
  readonly trace?: Trace;
};

/** Every attempt makes envelopes, so their members are named one by one, which is far faster than spreading the rest. */
export const systemEnvelope = ({
  commandId,
  at,
  causationId,
  actor,
  account = "",
  trace = NO_TRACE,
}: SystemEnvelope): Envelope => {
  const it = { commandId, at, account, trace, actor: { kind: "system", id: actor } } as const;
  return causationId === undefined ? it : { ...it, causationId };
};

export const causedEnvelope = (
  { id, meta }: Pick<RecordedEvent, "id" | "meta">,
  { actor, commandId, at }: Pick<SystemEnvelope, "actor" | "commandId" | "at">,
): Envelope => {
  const trace = { trace_id: meta.trace_id, span_id: meta.span_id };
  return systemEnvelope({ actor, commandId, at, account: meta.account, trace, causationId: id });
};

export type Fact = { readonly type: string; readonly data: unknown };

/** A UUID (version 8, RFC 9562, section 5.8) derived from the command, so that a repeated append has the same ids. */
export const eventId = (commandId: string, index: number): string => {
  const h = hash("sha256", `${commandId}/${index}`);
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-8${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`;
};

const metadata = (envelope: Envelope): Metadata => ({
  account: envelope.account,
  actor: envelope.actor,
  command_id: envelope.commandId,
  trace_id: envelope.trace.trace_id,
  span_id: envelope.trace.span_id,
  ...(envelope.trace.parent_span_id === undefined ? {} : { parent_span_id: envelope.trace.parent_span_id }),
  causation_id: envelope.causationId ?? null,
  recorded_at: envelope.at,
  schema: 1,
});

export const toEvents = (facts: readonly Fact[], envelope: Envelope): NewEvent[] => {
  const meta = metadata(envelope);
  return facts.map((fact, index) => ({
    id: eventId(envelope.commandId, index),
    type: fact.type,
    // The data of every event type in domain/ is plain JSON, which the compiler cannot see through the type parameter.
    data: fact.data as JsonObject,
    meta,
  }));
};
