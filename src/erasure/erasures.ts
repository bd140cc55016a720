import { type BundleErasureRejection, bundleErasure, type ErasableBundle } from "../../domain/bundle/erasure.ts";
import type { Decider } from "../../domain/decider.ts";
import type { Erased } from "../../domain/delivery/erased.ts";
import { erasure } from "../../domain/delivery/erasure.ts";
import type { ErasedUpTo } from "../../domain/delivery/events.ts";
import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { subjectOf } from "../../projections/streams.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { payloadStream } from "../streams/payloads.ts";
import { type CommandResult, foldStream, latestOf, runDerived, type StreamState } from "../streams/run-command.ts";

type Erasing = { readonly upTo: ErasedUpTo };
type Erasable = { readonly claimed: boolean; readonly erasedAt: string | null; readonly erased: Erased };

const readEvent = (log: EventLog, eventId: string) => foldStream(log, erasure, `delivery-${eventId}`);
const readBundle = (log: EventLog, bundleId: string) => foldStream(log, bundleErasure, bundleStream(bundleId));

/** An unclaimed event may store its payload anew, so there only the recorded revisions are erased. */
const eraseRecorded = async (log: EventLog, id: string, { claimed, erasedAt, erased }: Erasable): Promise<void> => {
  if (claimed && erasedAt !== null) await log.erase(payloadStream(id));
  else if (typeof erased === "number") await log.erase(payloadStream(id), erased);
};

/**
 * A payload stored between the record and the erasure stays, for the decision that follows the record. After a crash
 * between the two, `erasureReactions` erases.
 */
export const erase = async <S extends Erasable, C extends Erasing, E extends Fact, R>(
  log: EventLog,
  decider: Decider<S, C, E, R>,
  stream: string,
  known: StreamState<S>,
  command: Omit<C, keyof Erasing>,
  envelope: Envelope,
): Promise<CommandResult<S, R>> => {
  const id = subjectOf(stream);
  const look = async (): Promise<C> => {
    const upTo = (await log.last(payloadStream(id)))?.revision ?? null;
    return { ...command, upTo } as C;
  };
  const ran = await runDerived(log, { decider, stream, from: known, derive: look, envelope });
  if (ran.outcome === "rejected") return ran;
  // Another node may have recorded the same command with a lower revision, and only recorded revisions may be erased.
  const recorded = await foldStream(log, decider, stream, { from: known });
  await eraseRecorded(log, id, recorded.state);
  return ran;
};

type Cause = { readonly reason: string; readonly at: string };

const eraseSteps = async (
  log: EventLog,
  { events }: ErasableBundle,
  { reason, at }: Cause,
  envelope: Envelope,
): Promise<Position | undefined> => {
  let position: Position | undefined;
  for (const eventId of events) {
    const command = { type: "ErasePayload", eventId, reason, at } as const;
    const named = { ...envelope, commandId: `${envelope.commandId}/${eventId}` };
    const known = await readEvent(log, eventId);
    const ran = await erase(log, erasure, `delivery-${eventId}`, known, command, named);
    if (ran.outcome !== "rejected") position = latestOf(position, ran.position);
    else await log.erase(payloadStream(eventId));
  }
  return position;
};

type EraseBundle = Cause & { readonly endedUpTo?: string };

/** Erases the payloads of the bundle, its steps and its undos; after a crash `erasureReactions` completes it. */
export const eraseBundle = async (
  log: EventLog,
  bundleId: string,
  known: StreamState<ErasableBundle>,
  cause: EraseBundle,
  envelope: Envelope,
): Promise<CommandResult<ErasableBundle, BundleErasureRejection>> => {
  const command = { type: "EraseBundlePayload", bundleId, ...cause } as const;
  const ran = await erase(log, bundleErasure, bundleStream(bundleId), known, command, envelope);
  if (ran.outcome === "rejected") return ran;
  const position = latestOf(ran.position, await eraseSteps(log, ran.known.state, cause, envelope));
  return position === undefined ? ran : { ...ran, position };
};

const isBundle = (id: string): boolean => id.startsWith("bun_");

/** Erases what a late request or node stored after the erasure. Returns false if nothing may be erased. */
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

/** False if the event or bundle has not ended: its stream decides, because the view that found it may lag. */
export const expirePayload = async (
  log: EventLog,
  id: string,
  expiry: Expiry,
  envelope: Envelope,
): Promise<boolean> => {
  const cause = { ...expiry, at: envelope.at };
  if (isBundle(id)) {
    const { outcome } = await eraseBundle(log, id, await readBundle(log, id), cause, envelope);
    return outcome !== "rejected";
  }
  const command = { type: "ErasePayload", eventId: id, ...cause } as const;
  const { outcome } = await erase(log, erasure, `delivery-${id}`, await readEvent(log, id), command, envelope);
  return outcome !== "rejected";
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
    // A blocked bundle may have come again and started its steps since.
    if (state.erasedAt !== null) await eraseSteps(log, state, { reason, at }, envelopeAfter(record, at));
  }),
];
