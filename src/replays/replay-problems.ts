import type { DeliveryRejection } from "../../domain/delivery/commands.ts";
import { REPLAYS_MAX } from "../../domain/delivery/replay.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import { type Problem, problem } from "../streams/problems.ts";

export const conflict = (detail: string): Problem => problem("conflict", detail);

export const replayProblem = (rejection: DeliveryRejection, state: Delivery): Problem => {
  switch (rejection) {
    case "already-delivered":
      return problem("already-delivered", "The event was delivered already.");
    case "in-progress":
      return state.phase === "held"
        ? problem("in-progress", "The event is held: approve or reject it.", { retryable: false })
        : problem("in-progress", "The event is being delivered: it can be replayed once it has failed.");
    case "of-bundle":
      return conflict("The event is a step of a bundle: request the bundle again.");
    case "payload-erased":
      return conflict("Its payload was erased, so there is nothing to send. Its sender can send it as a new event.");
    case "too-often":
      return conflict(`The event was replayed ${REPLAYS_MAX} times: its sender can send it as a new event.`);
    case "not-failed":
      return state.phase === "stopped"
        ? conflict(`The event was ${state.outcome}: its sender can send it as a new event.`)
        : conflict("The event was only recorded: give its source an endpoint to have later events delivered.");
    default:
      return conflict("The event changed meanwhile: read it again.");
  }
};
