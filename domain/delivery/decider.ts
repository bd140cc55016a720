import { accept, type Decider, reject } from "../decider.ts";
import { decideFailure, decideGiveUp, decideStart, decideSuccess, isLeased } from "./attempt.ts";
import type { CommandOf, DeliveryCommand, DeliveryRejection } from "./commands.ts";
import type { DeliveryEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import { decideCancel, decideEndHold, decideHoldAgain, decideRelease } from "./hold.ts";
import { decideReplay, hasGivenBack } from "./replay.ts";
import { type Delivery, isClaimed } from "./state.ts";

const decisionOf = (command: CommandOf<"Admit" | "Block" | "Hold">): DeliveryEvent => {
  if (command.type === "Hold") return { type: "EventHeld", data: { ...command.request, approval: command.approval } };
  return { type: command.type === "Admit" ? "EventAdmitted" : "EventBlocked", data: command.request };
};

/** Stream `delivery-<event>`: one event from its decision to its end. */
export const delivery: Decider<Delivery, DeliveryCommand, DeliveryEvent, DeliveryRejection> = {
  initial: { phase: "absent" },

  evolve,

  decide(command, state) {
    switch (command.type) {
      case "Admit":
      case "Block":
      case "Hold":
        return isClaimed(state) ? reject("already-admitted") : accept(decisionOf(command));
      case "Abandon":
        // A replay takes released places anew before it is recorded, so it is fenced as an admission is.
        if (isClaimed(state) && !hasGivenBack(state)) return reject("already-admitted");
        return accept({ type: "AdmissionAbandoned", data: { event_id: command.eventId, at: command.at } });
      case "HoldAgain":
        return decideHoldAgain(command, state, (active) => isLeased(active, command));
      case "Release":
        return decideRelease(command, state);
      case "EndHold":
        return decideEndHold(command, state);
      case "Cancel":
        return decideCancel(command, state);
      case "StartAttempt":
        return decideStart(command, state);
      case "Succeed":
        return decideSuccess(command, state);
      case "Fail":
        return decideFailure(command, state);
      case "GiveUp":
        return decideGiveUp(command, state);
      case "Replay":
        return decideReplay(command, state);
    }
  },
};
