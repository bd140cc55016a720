import type { DeliveryRejection } from "../../domain/delivery/commands.ts";
import { REPLAYS_MAX } from "../../domain/delivery/replay.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { SkipReason } from "../../domain/replay/skips.ts";
import { SKIP_REASONS } from "../../projections/replay-skips.ts";
import { type Problem, type ProblemCode, problem } from "../streams/problems.ts";

export const conflict = (detail: string, reason: SkipReason): Problem =>
  problem("conflict", detail, { extra: { reason } });

const REASONS: Partial<Record<ProblemCode, SkipReason>> = {
  "endpoint-disabled": "endpoint-disabled",
  "source-paused": "source-paused",
  "agent-suspended": "agent-suspended",
  "unknown-action": "action-unknown",
  "payload-damaged": "payload-damaged",
  "payload-not-kept": "payload-not-kept",
  "already-delivered": "changed",
  "in-progress": "changed",
  "not-found": "changed",
};

/** All problems that are not in the table are those of gates, apart from conflicts, which say their reason. */
export const skipReasonOf = ({ problem: code, extra }: Problem): SkipReason => {
  if (code === "conflict") return SKIP_REASONS.find((reason) => reason === extra?.reason) ?? "changed";
  return REASONS[code] ?? "refused-by-policy";
};

export const replayProblem = (rejection: DeliveryRejection, state: Delivery): Problem => {
  switch (rejection) {
    case "already-delivered":
      return problem("already-delivered", "The event was delivered already.");
    case "in-progress":
      return state.phase === "held"
        ? problem("in-progress", "The event is held: approve or reject it.", { retryable: false })
        : problem("in-progress", "The event is being delivered: it can be replayed once it has failed.");
    case "of-bundle":
      return conflict("The event is a step of a bundle: request the bundle again.", "bundle-step");
    case "payload-erased":
      return conflict(
        "Its payload was erased, so there is nothing to send. Its sender can send it as a new event.",
        "payload-erased",
      );
    case "too-often":
      return conflict(
        `The event was replayed ${REPLAYS_MAX} times: its sender can send it as a new event.`,
        "replayed-too-often",
      );
    case "not-failed":
      return state.phase === "stopped"
        ? conflict(`The event was ${state.outcome}: its sender can send it as a new event.`, "changed")
        : conflict(
            "The event was only recorded: give its source an endpoint to have later events delivered.",
            "changed",
          );
    default:
      return conflict("The event changed meanwhile: read it again.", "changed");
  }
};
