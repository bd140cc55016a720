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
 * Hands an event that somebody has sent again to the deliverer of this process: whoever was asked may have none, or may have
 * died since, and from disk it comes in its turn, behind an open circuit. Handed over twice it is sent once, by its lease.
 */
export const replayReactions = ({ aggregates, deliver }: ReplayReactionsDeps): readonly Reaction[] => [
  reaction("EventReplayed", async ({ event_id: eventId, endpoint_id: endpointId, replay_id: id }, { meta }) => {
    // Of many that a filter has chosen none is a probe.
    const { state } = await aggregates.load(replay, replayStream(id));
    if (state.phase === "absent") deliver.offer({ eventId, account: meta.account, endpointId, trigger: "replay" });
  }),
];
