import { action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider } from "../../domain/agent/decider.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { SkipReason } from "../../domain/replay/skips.ts";
import { source as sourceDecider } from "../../domain/source/decider.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { suspensionReason } from "../accounts/agent-suspension.ts";
import { agentStream } from "../accounts/credentials.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";

/** Why an event that is replayed is not sent at once. */
export type WaitReason = "circuit-open" | "endpoint-disabled";

/** Where a replayed event waits; null if it is sent at once. */
type Waiting = { readonly endpointId: string; readonly reason: WaitReason } | null;

export type Fate = { readonly skip: SkipReason } | { readonly waiting: Waiting };

type Streams = Pick<Aggregates, "load">;

/** Null if the endpoint is sent to at once; "endpoint-deleted" if there is no such endpoint. */
export const hindranceOf = async (streams: Streams, id: string): Promise<WaitReason | "endpoint-deleted" | null> => {
  const { state } = await streams.load(endpointDecider, `endpoint-${id}`);
  if (state.phase !== "present") return "endpoint-deleted";
  if (state.disabled !== null) return "endpoint-disabled";
  return state.circuit.state === "open" ? "circuit-open" : null;
};

/** What no change can mend: the view of the events knows it, and no replay asks the event. */
export const exclusionOf = ({ bundle, payload }: EventDocument): SkipReason | null => {
  if (bundle !== undefined) return "bundle-step";
  if (payload.head !== undefined) return "payload-not-kept";
  return payload.erased_at === null ? null : "payload-erased";
};

/** The request's time, which decides whether a suspension concerns it. */
const askedAt = ({ timeline, received_at }: EventDocument): string =>
  timeline.findLast(({ stage }) => stage === "gated")?.at ?? received_at;

const fateOfFailed = async (streams: Streams, event: EventDocument): Promise<Fate> => {
  const { endpoint_id: id, origin } = event;
  const hindrance = id === null ? "endpoint-deleted" : await hindranceOf(streams, id);
  if (hindrance === "endpoint-deleted" || hindrance === "endpoint-disabled") return { skip: hindrance };
  if (origin.kind === "agent" && (await suspensionReason(streams, { origin, at: askedAt(event) })) !== null)
    return { skip: "agent-suspended" };
  return { waiting: hindrance === null || id === null ? null : { endpointId: id, reason: hindrance } };
};

/** Where the current settings of its sender lead the event. */
const destinationOf = async (
  streams: Streams,
  { origin: { kind, id }, account, type }: EventDocument,
): Promise<{ readonly endpointId: string | null } | { readonly skip: SkipReason }> => {
  if (kind !== "agent") {
    const { state } = await streams.load(sourceDecider, `source-${id}`);
    if (state.phase !== "present") return { skip: "source-deleted" };
    return state.settings.status === "paused" ? { skip: "source-paused" } : { endpointId: state.settings.endpoint_id };
  }
  const [{ state: agent }, { state: action }] = await Promise.all([
    streams.load(agentDecider, agentStream(id)),
    streams.load(actionDecider, actionStream(account, type)),
  ]);
  if (agent.phase !== "present") return { skip: "agent-deleted" };
  if (agent.suspended !== null) return { skip: "agent-suspended" };
  return action.phase === "defined" ? { endpointId: action.definition.endpoint_id } : { skip: "action-unknown" };
};

const fateOfBlocked = async (streams: Streams, event: EventDocument): Promise<Fate> => {
  const to = await destinationOf(streams, event);
  if ("skip" in to) return to;
  const { endpointId } = to;
  const reason = endpointId === null ? null : await hindranceOf(streams, endpointId);
  if (endpointId === null || reason === null || reason === "endpoint-deleted") return { waiting: null };
  return { waiting: { endpointId, reason } };
};

/** What a replay would do with an event now. What its gates answer, and how often it was replayed, shows only then. */
export const fateOf = async (streams: Streams, status: "failed" | "blocked", event: EventDocument): Promise<Fate> => {
  const skip = exclusionOf(event);
  if (skip !== null) return { skip };
  return status === "failed" ? fateOfFailed(streams, event) : fateOfBlocked(streams, event);
};
