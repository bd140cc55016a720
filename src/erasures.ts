import { bundleErasure } from "../domain/bundle/erasure.ts";
import type { Decider } from "../domain/decider.ts";
import { erasure } from "../domain/delivery/erasure.ts";
import type { ErasedUpTo } from "../domain/delivery/events.ts";
import type { EventLog, RecordedEvent, Revision } from "../domain/ports.ts";
import { categoryOf, subjectOf } from "../projections/streams.ts";
import type { Envelope, Fact } from "./envelope.ts";
import type { Reaction } from "./loops/reactor.ts";
import { payloadStream } from "./payloads.ts";
import { type Known, type Ran, readOn, runLooked } from "./run-command.ts";

type Erasing = { readonly upTo: ErasedUpTo };

/**
 * Records the erasure of what an event's or a bundle's payload stream holds, then erases that: what is kept meanwhile stays,
 * and belongs to whoever is decided behind the record. A crash between the two leaves a record that a repeat makes true.
 */
export const erase = async <S, C extends Erasing, E extends Fact, R>(
  log: EventLog,
  decider: Decider<S, C, E, R>,
  stream: string,
  known: Known<S>,
  command: Omit<C, keyof Erasing>,
  envelope: Envelope,
): Promise<Ran<S, R>> => {
  const kept = payloadStream(subjectOf(stream));
  let upTo: ErasedUpTo = null;
  const look = async (): Promise<C> => {
    upTo = (await log.last(kept))?.revision ?? null;
    // `C` is its parts.
    return { ...command, upTo } as C;
  };
  const ran = await runLooked(log, decider, stream, known, look, envelope);
  if (ran.outcome !== "rejected" && upTo !== null) await log.erase(kept, upTo);
  return ran;
};

/** Of an event that was admitted, so keeps no payload anew: what came behind the erasure of all that it had. */
export const eraseLeft = async (log: EventLog, eventId: string): Promise<void> => {
  const { state } = await readOn(log, erasure, `delivery-${eventId}`, { state: erasure.initial, revision: null });
  if (state.erasedAt !== null) await log.erase(payloadStream(eventId));
};

/** What retention wants of an event or a bundle: gone if it has ended by then. */
export type Expiry = { readonly reason: string; readonly endedUpTo: string };

/** False when it has not ended by then, or is being sent: whatever a view said, the stream decides. */
const expireEvent = async (log: EventLog, id: string, expiry: Expiry, envelope: Envelope): Promise<boolean> => {
  const stream = `delivery-${id}`;
  const known = await readOn(log, erasure, stream, { state: erasure.initial, revision: null });
  const command = { type: "ErasePayload", eventId: id, at: envelope.at, ...expiry } as const;
  const { outcome } = await erase(log, erasure, stream, known, command, envelope);
  return outcome !== "rejected";
};

/** With those of its steps: the bundle's own are last, so that what a crash leaves is found again. */
const expireBundle = async (log: EventLog, id: string, expiry: Expiry, envelope: Envelope): Promise<boolean> => {
  const stream = `bundle-${id}`;
  const known = await readOn(log, bundleErasure, stream, { state: bundleErasure.initial, revision: null });
  const command = { type: "EraseBundlePayload", bundleId: id, at: envelope.at, ...expiry } as const;
  if (!bundleErasure.decide({ ...command, upTo: null }, known.state).ok) return false;
  for (const event of known.state.events) {
    const named = { ...envelope, commandId: `${envelope.commandId}/${event}` };
    await expireEvent(log, event, expiry, named);
  }
  const { outcome } = await erase(log, bundleErasure, stream, known, command, envelope);
  return outcome !== "rejected";
};

const BUNDLE = "bun_";

/** Records the erasure of an ended event's payload, or of a bundle's, then erases; false where that may not be. */
export const expirePayload = (log: EventLog, id: string, expiry: Expiry, envelope: Envelope): Promise<boolean> =>
  (id.startsWith(BUNDLE) ? expireBundle : expireEvent)(log, id, expiry, envelope);

const isErased = async (log: EventLog, stream: string): Promise<boolean> => {
  const isBundle = categoryOf(stream) === "bundle";
  const { state } = isBundle
    ? await readOn(log, bundleErasure, stream, { state: bundleErasure.initial, revision: null })
    : await readOn(log, erasure, stream, { state: erasure.initial, revision: null });
  return state.erasedAt !== null;
};

/** The last revision that a record of an erasure has taken; null for nothing. */
const takenBy = async (log: EventLog, { stream, data }: RecordedEvent, last: Revision): Promise<ErasedUpTo> => {
  // Of both records (`PayloadErased`, `BundlePayloadErased`).
  const { up_to } = data as { readonly up_to?: ErasedUpTo };
  if (up_to !== undefined) return up_to;
  // An old record: what came again meanwhile brought its payload again.
  return (await isErased(log, stream)) ? last : null;
};

/** Makes true what a crash between the record of an erasure and the erasure has left. */
export const erasureReactions = (log: EventLog): readonly Reaction[] => {
  const run = async (record: RecordedEvent): Promise<void> => {
    const kept = payloadStream(subjectOf(record.stream));
    const last = await log.last(kept);
    if (last === null) return;
    const upTo = await takenBy(log, record, last.revision);
    if (upTo !== null) await log.erase(kept, upTo);
  };
  return [
    { on: "PayloadErased", run },
    { on: "BundlePayloadErased", run },
  ];
};
