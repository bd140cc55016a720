import { bundleErasure } from "../domain/bundle/erasure.ts";
import { erasure } from "../domain/delivery/erasure.ts";
import type { EventLog, RecordedEvent } from "../domain/ports.ts";
import { categoryOf, subjectOf } from "../projections/streams.ts";
import type { Envelope } from "./envelope.ts";
import type { Reaction } from "./loops/reactor.ts";
import { payloadStream } from "./payloads.ts";
import { readOn, runCommand } from "./run-command.ts";

/** What retention wants of an event or a bundle: gone if it has ended by then. */
export type Expiry = { readonly reason: string; readonly endedUpTo: string };

/** False when it has not ended by then, or is being sent: whatever a view said, the stream decides. */
const expireEvent = async (log: EventLog, id: string, expiry: Expiry, envelope: Envelope): Promise<boolean> => {
  const stream = `delivery-${id}`;
  const known = await readOn(log, erasure, stream, { state: erasure.initial, revision: null });
  const command = { type: "ErasePayload", eventId: id, at: envelope.at, ...expiry } as const;
  const { outcome } = await runCommand(log, erasure, stream, known, command, envelope);
  if (outcome === "rejected") return false;
  await log.erase(payloadStream(id));
  return true;
};

/** With those of its steps: the bundle's own are last, so that what a crash leaves is found again. */
const expireBundle = async (log: EventLog, id: string, expiry: Expiry, envelope: Envelope): Promise<boolean> => {
  const stream = `bundle-${id}`;
  const known = await readOn(log, bundleErasure, stream, { state: bundleErasure.initial, revision: null });
  const command = { type: "EraseBundlePayload", bundleId: id, at: envelope.at, ...expiry } as const;
  if (!bundleErasure.decide(command, known.state).ok) return false;
  for (const event of known.state.events) {
    const named = { ...envelope, commandId: `${envelope.commandId}/${event}` };
    await expireEvent(log, event, expiry, named);
  }
  const { outcome } = await runCommand(log, bundleErasure, stream, known, command, envelope);
  if (outcome === "rejected") return false;
  await log.erase(payloadStream(id));
  return true;
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

/** Makes true what a crash between the record of an erasure and the erasure has left. */
export const erasureReactions = (log: EventLog): readonly Reaction[] => {
  const run = async ({ stream }: RecordedEvent): Promise<void> => {
    const kept = payloadStream(subjectOf(stream));
    if ((await log.last(kept)) === null) return;
    // What came again meanwhile brought its payload again.
    if (await isErased(log, stream)) await log.erase(kept);
  };
  return [
    { on: "PayloadErased", run },
    { on: "BundlePayloadErased", run },
  ];
};
