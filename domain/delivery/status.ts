import type { HoldOutcome } from "./events.ts";
import type { Delivery } from "./state.ts";

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

export const statusOf = (state: Delivery): DeliveryStatus => {
  switch (state.phase) {
    case "absent":
    case "abandoned":
      return "blocked";
    case "waiting":
      return state.attempts === 0 ? "queued" : "retrying";
    case "attempting":
      return "delivering";
    case "stopped":
      return state.outcome;
    default:
      return state.phase;
  }
};
