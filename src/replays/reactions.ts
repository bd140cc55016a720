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
 * Delivers a replayed event at once, even if the node that took the request has no deliverer or has died. Its lease
 * lets it be sent only once.
 */
export const replayReactions = ({ aggregates, deliver }: ReplayReactionsDeps): readonly Reaction[] => [
  reaction("EventReplayed", async ({ event_id: eventId, endpoint_id: endpointId, replay_id: id }, { meta }) => {
    // A single replay bypasses an open circuit; a bulk replay does not.
    const { state } = await aggregates.load(replay, replayStream(id));
    if (state.phase === "absent") deliver.offer({ kind: "replay", eventId, account: meta.account, endpointId });
  }),
];
