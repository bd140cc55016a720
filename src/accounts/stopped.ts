import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { agentStream } from "./credentials.ts";

const suspensionReason = (reason: string): string => `The agent was suspended: ${reason}`;

/** Reads without the cache: a state from just before a suspension would let its reaction find nothing to do. */
export const asOfNow = (aggregates: Pick<Aggregates, "load">): Pick<Aggregates, "load"> => ({
  load: (decider, stream) => aggregates.load(decider, stream, 0),
});

/**
 * Why an agent's admitted requests are not sent; null if they are. Requests from before a suspension stay unsent after
 * it, and the undo of a bundle's step is always sent.
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
