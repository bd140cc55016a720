import type { HoldOutcome } from "./events.ts";
import type { Delivery } from "./state.ts";

/** How far an event has got, in the words of the API. */
export type DeliveryStatus =
  | "blocked"
  | "held"
  | "queued"
  | "delivering"
  | "retrying"
  | "delivered"
  | "failed"
  | "recorded"
  | HoldOutcome;

/** Of an event that was decided: what is not held, admitted or ended was refused. */
export const statusOf = (state: Delivery): DeliveryStatus => {
  if (state.phase === "held") return "held";
  if (state.phase === "ended") return state.end;
  if (state.phase !== "admitted") return "blocked";
  if (state.end !== null) return state.end;
  if (state.lease !== null) return "delivering";
  return state.attempts === 0 ? "queued" : "retrying";
};
