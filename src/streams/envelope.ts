import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { Actor, Metadata, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";

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

const metadata = ({ account, actor, commandId, trace, causationId, at }: Envelope): Metadata => {
  const { trace_id, span_id, parent_span_id } = trace;
  const command_id = commandId;
  const causation_id = causationId ?? null;
  return parent_span_id === undefined
    ? { account, actor, command_id, trace_id, span_id, causation_id, recorded_at: at, schema: 1 }
    : { account, actor, command_id, trace_id, span_id, parent_span_id, causation_id, recorded_at: at, schema: 1 };
};

const recordOf = ({ type, data }: Fact, id: string, meta: Metadata): NewEvent => ({
  id,
  type,
  // The data of every event type in domain/ is plain JSON, which the compiler cannot see through the type parameter.
  data: data as JsonObject,
  meta,
});

/** The records of a command, with the same ids however often they are made. */
export const toEvents = (facts: readonly Fact[], envelope: Envelope): NewEvent[] => {
  const meta = metadata(envelope);
  return facts.map((fact, index) => recordOf(fact, eventId(envelope.commandId, index), meta));
};

const IDS_OF_PREFIX = 4_096;
const PREFIX_BYTES = 14;

/**
 * Makes records that are sent again only as they are, so that their ids can be random: UUIDs (version 8) with 108
 * random bits for each 4,096. A hash for each id, as `eventId` takes, and metadata for each record would cost 4 % of an
 * admission.
 */
export class Recorder {
  readonly #randomness: Randomness;
  #prefix = "";
  #used = IDS_OF_PREFIX;
  #last: { readonly envelope: Envelope; readonly meta: Metadata } | null = null;

  constructor(randomness: Randomness) {
    this.#randomness = randomness;
  }

  toEvents(facts: readonly Fact[], envelope: Envelope): NewEvent[] {
    if (this.#last?.envelope !== envelope) this.#last = { envelope, meta: metadata(envelope) };
    const { meta } = this.#last;
    return facts.map((fact) => recordOf(fact, this.#nextId(), meta));
  }

  #nextId(): string {
    if (this.#used === IDS_OF_PREFIX) {
      const hex = Buffer.from(this.#randomness.bytes(PREFIX_BYTES)).toString("hex");
      const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 15), hex.slice(15, 18)];
      this.#prefix = `${a}-${b}-8${c}-a${d}-${hex.slice(18, 27)}`;
      this.#used = 0;
    }
    this.#used += 1;
    return this.#prefix + (IDS_OF_PREFIX + this.#used - 1).toString(16).slice(1);
  }
}
