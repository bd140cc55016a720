import { bundle } from "../../domain/bundle/decider.ts";
import { bundleErasure } from "../../domain/bundle/erasure.ts";
import { erasure } from "../../domain/delivery/erasure.ts";
import type { EventLog } from "../../domain/ports.ts";
import { requestOf } from "../bundles/answer.ts";
import { bundleStream, isBundleId } from "../bundles/bundle-id.ts";
import { erase } from "../erasures.ts";
import { payloadStream } from "../payloads.ts";
import { notFound, type Problem, problem } from "../problems.ts";
import { readOn } from "../run-command.ts";
import { type Answer, type Call, positionOf } from "./route.ts";

type Reason = { readonly reason: string };

/** The events that carry a bundle's steps and take them back, whether or not they were ever started. */
const eventIdsOf = async (log: EventLog, bundleId: string): Promise<readonly string[]> => {
  const { state } = await readOn(log, bundle, bundleStream(bundleId), { state: bundle.initial, revision: null });
  if (state.phase !== "running") return [];
  return (requestOf(state)?.steps ?? []).flatMap(({ event_id, undo_event_id }) => [event_id, undo_event_id]);
};

/** One of an event that was never admitted may be there as well: a crash in front of its start leaves it. */
const eraseEvent = async (log: EventLog, eventId: string, { body, envelope }: Call): Promise<void> => {
  const stream = `delivery-${eventId}`;
  const known = await readOn(log, erasure, stream, { state: erasure.initial, revision: null });
  const { reason } = body as Reason;
  const command = { type: "ErasePayload", eventId, reason, at: envelope.at } as const;
  // Its bundle has ended, so it is not under way; and what is absent has nothing to record.
  const named = { ...envelope, commandId: `${envelope.commandId}/${eventId}` };
  const { outcome } = await erase(log, erasure, stream, known, command, named);
  if (outcome === "rejected") await log.erase(payloadStream(eventId));
};

/** `erasedAt`: ISO-8601 UTC. */
export type BundleErased = { readonly erasedAt: string | null; readonly written: Pick<Answer, "position"> };

/**
 * Erases the bundle's own payload, and all that the steps and their undos were sent and answered. The erasure is recorded
 * first: what a crash leaves half done a repeat of the call makes true.
 */
export const eraseBundle = async (log: EventLog, id: string, call: Call): Promise<BundleErased | Problem> => {
  if (!isBundleId(id)) return notFound();
  const stream = bundleStream(id);
  let owner: string | null = null;
  const known = await readOn(
    log,
    bundleErasure,
    stream,
    { state: bundleErasure.initial, revision: null },
    ({ meta }) => {
      owner ??= meta.account;
    },
  );
  if (owner !== call.principal.account) return notFound();
  // The route's schema has checked the shape.
  const { reason } = call.body as Reason;
  const command = { type: "EraseBundlePayload", bundleId: id, reason, at: call.envelope.at } as const;
  const ran = await erase(log, bundleErasure, stream, known, command, call.envelope);
  if (ran.outcome === "rejected") {
    if (ran.rejection === "absent") return notFound();
    return problem("conflict", "The bundle has not ended: its payloads can be erased once it has.");
  }
  for (const eventId of await eventIdsOf(log, id)) await eraseEvent(log, eventId, call);
  return { erasedAt: ran.known.state.erasedAt, written: positionOf(ran) };
};

export const eraseBundlePayload = async (log: EventLog, call: Call): Promise<Answer | Problem> => {
  const { id = "" } = call.params;
  const erased = await eraseBundle(log, id, call);
  if ("problem" in erased) return erased;
  return { status: 200, body: { bundle_id: id, erased_at: erased.erasedAt }, ...erased.written };
};
