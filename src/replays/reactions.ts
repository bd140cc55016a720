import { replay } from "../../domain/replay/decider.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { replayStream } from "./stream.ts";

export type ReplayReactionsDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly deliver: Pick<Deliverer, "offer">;
};

/**
 * Offers single replays for delivery, as the node that took the request may have died. The lease lets one node send.
 */
export const replayReactions = ({ aggregates, deliver }: ReplayReactionsDeps): readonly Reaction[] => [
  reaction("EventReplayed", async ({ event_id: eventId, endpoint_id: endpointId, replay_id: id }, { meta }) => {
    const { state } = await aggregates.load(replay, replayStream(id));
    if (state.phase === "absent") deliver.offer({ kind: "replay", eventId, account: meta.account, endpointId });
  }),
];
