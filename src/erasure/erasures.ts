import {
  type BundleErasureRejection,
  bundleErasure,
  type ErasableBundle,
  type EraseBundlePayload,
} from "../../domain/bundle/erasure.ts";
import type { Decider } from "../../domain/decider.ts";
import {
  type Erasable as ErasableEvent,
  type ErasePayload,
  type ErasureRejection,
  erasure,
} from "../../domain/delivery/erasure.ts";
import type { ErasedUpTo } from "../../domain/delivery/events.ts";
import type { Reason } from "../../domain/personal/words.ts";
import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { subjectOf } from "../../projections/streams.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { payloadStream } from "../streams/payloads.ts";
import { type CommandResult, foldStream, latestOf, runDerived, type StreamState } from "../streams/run-command.ts";

type Erasable = { readonly claimed: boolean; readonly erasedAt: string | null; readonly erased: ErasedUpTo };

const readEvent = (log: EventLog, eventId: string) => foldStream(log, erasure, `delivery-${eventId}`);
const readBundle = (log: EventLog, bundleId: string) => foldStream(log, bundleErasure, bundleStream(bundleId));

/** What is not claimed may store its payload anew, so only recorded revisions of its payload's stream are erased. */
const eraseRecorded = async (log: EventLog, id: string, { claimed, erasedAt, erased }: Erasable): Promise<void> => {
  if (claimed && erasedAt !== null) await log.erase(payloadStream(id));
  else if (erased !== null) await log.erase(payloadStream(id), erased);
};

type Recording<S, C, E, R> = {
  readonly decider: Decider<S, C, E, R>;
  readonly stream: string;
  readonly known: StreamState<S>;
  readonly envelope: Envelope;
  readonly commandUpTo: (upTo: ErasedUpTo) => C;
};

/**
 * A payload that is stored between the record and the erasure belongs to a later decision, so it stays. If the process
 * dies between the two, `erasureReactions` erases.
 */
const recordAndErase = async <S extends Erasable, C, E extends Fact, R>(
  log: EventLog,
  { decider, stream, known, envelope, commandUpTo }: Recording<S, C, E, R>,
): Promise<CommandResult<S, R>> => {
  const id = subjectOf(stream);
  const derive = async (): Promise<C> => commandUpTo((await log.last(payloadStream(id)))?.revision ?? null);
  const ran = await runDerived(log, { decider, stream, from: known, derive, envelope });
  if (ran.outcome === "rejected") return ran;
  // Another node may have recorded the same command with a lower `upTo`, and only recorded revisions may be erased.
  const recorded = await foldStream(log, decider, stream, { from: known });
  await eraseRecorded(log, id, recorded.state);
  return ran;
};

export type PayloadErasure<S> = {
  readonly id: string;
  /** The folded state of the event or bundle, if the caller has read it already. */
  readonly known?: StreamState<S>;
  readonly cause: { readonly reason: Reason; readonly endedUpTo?: string };
  readonly envelope: Envelope;
};

export const eraseEvent = async (
  log: EventLog,
  { id, known, cause, envelope }: PayloadErasure<ErasableEvent>,
): Promise<CommandResult<ErasableEvent, ErasureRejection>> =>
  recordAndErase(log, {
    decider: erasure,
    stream: `delivery-${id}`,
    known: known ?? (await readEvent(log, id)),
    envelope,
    commandUpTo: (upTo): ErasePayload => ({ type: "ErasePayload", eventId: id, ...cause, at: envelope.at, upTo }),
  });

const eraseSteps = async (
  log: EventLog,
  { events }: ErasableBundle,
  reason: Reason,
  envelope: Envelope,
): Promise<Position | undefined> => {
  let position: Position | undefined;
  for (const id of events) {
    const commandId = `${envelope.commandId}/${id}`;
    const ran = await eraseEvent(log, { id, cause: { reason }, envelope: { ...envelope, commandId } });
    if (ran.outcome !== "rejected") position = latestOf(position, ran.position);
    // An event that was never admitted has no stream for a record of the erasure, so its payload is erased without one.
    else await log.erase(payloadStream(id));
  }
  return position;
};

/** Erases the payloads of the bundle, its steps and its undos; after a crash `erasureReactions` completes it. */
export const eraseBundle = async (
  log: EventLog,
  { id, known, cause, envelope }: PayloadErasure<ErasableBundle>,
): Promise<CommandResult<ErasableBundle, BundleErasureRejection>> => {
  const ran = await recordAndErase(log, {
    decider: bundleErasure,
    stream: bundleStream(id),
    known: known ?? (await readBundle(log, id)),
    envelope,
    commandUpTo: (upTo): EraseBundlePayload => ({
      type: "EraseBundlePayload",
      bundleId: id,
      ...cause,
      at: envelope.at,
      upTo,
    }),
  });
  if (ran.outcome === "rejected") return ran;
  const position = latestOf(ran.position, await eraseSteps(log, ran.known.state, cause.reason, envelope));
  return position === undefined ? ran : { ...ran, position };
};

const isBundle = (id: string): boolean => id.startsWith("bun_");

/** Erases what a slow request has stored since the erasure. False if the id is not claimed or not erased. */
export const eraseLeft = async (log: EventLog, id: string): Promise<boolean> => {
  const { state } = isBundle(id) ? await readBundle(log, id) : await readEvent(log, id);
  await eraseRecorded(log, id, state);
  return state.claimed && state.erasedAt !== null;
};

export const isErasedSince = async (log: EventLog, eventId: string, revision: Revision | null): Promise<boolean> => {
  const from = { state: erasure.initial, revision };
  return (await foldStream(log, erasure, `delivery-${eventId}`, { from })).state.erasedAt !== null;
};

export type Expiry = { readonly reason: string; readonly endedUpTo: string };

/** False if the event or bundle has not ended. Its stream decides that, because the view that found it may lag. */
export const expirePayload = async (
  log: EventLog,
  id: string,
  expiry: Expiry,
  envelope: Envelope,
): Promise<boolean> => {
  const erase = isBundle(id) ? eraseBundle : eraseEvent;
  return (await erase(log, { id, cause: expiry, envelope })).outcome !== "rejected";
};

const envelopeAfter = ({ id, meta }: RecordedEvent, at: string): Envelope => ({
  commandId: `erasure-${id}`,
  account: meta.account,
  actor: meta.actor,
  trace: { trace_id: meta.trace_id, span_id: meta.span_id },
  at,
  causationId: id,
});

export const erasureReactions = (log: EventLog): readonly Reaction[] => [
  reaction("PayloadErased", async (_, { stream }) => {
    const id = subjectOf(stream);
    if ((await log.last(payloadStream(id))) === null) return;
    const { state } = await readEvent(log, id);
    await eraseRecorded(log, id, state);
  }),
  reaction("BundlePayloadErased", async ({ reason, at }, record) => {
    const id = subjectOf(record.stream);
    const { state } = await readBundle(log, id);
    await eraseRecorded(log, id, state);
    // Since this record, a blocked bundle may have been sent again and have started steps, whose payloads must stay.
    if (state.erasedAt !== null) await eraseSteps(log, state, reason, envelopeAfter(record, at));
  }),
];
