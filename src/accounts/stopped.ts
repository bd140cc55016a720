import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { agentStream } from "./credentials.ts";

const suspensionReason = (reason: string): string => `The agent was suspended: ${reason}`;

/** For who reacts to a suspension: a state from before it, however young, would say that nothing has happened. */
export const asOfNow = (aggregates: Pick<Aggregates, "load">): Pick<Aggregates, "load"> => ({
  load: (decider, stream) => aggregates.load(decider, stream, 0),
});

/**
 * Why nothing of an agent's request is sent any more, although it was admitted; null when it may be. An agent that was
 * suspended and is active again acts anew: what it had asked for before stays undone. What takes back a bundle's step is
 * sent whatever became of the agent.
 */
export const stoppedBecause = async (
  aggregates: Pick<Aggregates, "load">,
  { origin, at, bundle }: Pick<Request, "origin" | "at" | "bundle">,
): Promise<string | null> => {
  if (bundle?.undo === true) return null;
  const { state } = await aggregates.load(agentDecider, agentStream(origin.id));
  if (state.phase === "deleted") return "The agent was deleted";
  if (state.phase === "absent") return null;
  const { suspended, lastSuspended } = state;
  if (suspended !== null) return suspensionReason(suspended.reason);
  return lastSuspended !== null && at <= lastSuspended.at ? suspensionReason(lastSuspended.reason) : null;
};
