import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { Quoted, Words } from "../../domain/personal/words.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { agentStream } from "./credentials.ts";

const suspendedFor = (words: Words): Quoted => ({ sentence: "The agent was suspended", words });

/** For reactions to a suspension: the cache may have a state from before it, in which there is nothing to do. */
export const uncached = (aggregates: Pick<Aggregates, "load">): Pick<Aggregates, "load"> => ({
  load: (decider, stream) => aggregates.load(decider, stream, 0),
});

/**
 * Null if the agent's request may be sent. A request from before a suspension stays unsent even after the agent is
 * resumed; the undo of a bundle's step is always sent.
 */
export const suspensionReason = async (
  aggregates: Pick<Aggregates, "load">,
  { origin, at, bundle }: Pick<Request, "origin" | "at" | "bundle">,
): Promise<string | Quoted | null> => {
  if (bundle?.undo === true) return null;
  const { state } = await aggregates.load(agentDecider, agentStream(origin.id));
  if (state.phase === "deleted") return "The agent was deleted";
  if (state.phase === "absent") return null;
  const { suspended, lastSuspended } = state;
  if (suspended !== null) return suspendedFor(suspended.reason);
  return lastSuspended !== null && at <= lastSuspended.at ? suspendedFor(lastSuspended.reason) : null;
};
