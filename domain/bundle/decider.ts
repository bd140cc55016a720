import { accept, type Decider, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import { erasedWith } from "../delivery/erased.ts";
import type { HoldOutcome } from "../delivery/events.ts";
import { endsHold } from "../delivery/hold.ts";
import type { Reason } from "../personal/words.ts";
import type { BundleCommand, BundleRejection, CommandOf } from "./commands.ts";
import type { BundleEvent } from "./events.ts";
import { decideCancelRunning, decideMove, decideResolve } from "./moves.ts";
import { evolveRunning, running } from "./running.ts";
import { type Bundle, erasedUpTo, type FirstReceipt, type HeldBundleState, isClaimed } from "./state.ts";

const firstReceiptOf = (state: Bundle): FirstReceipt => {
  if (state.phase === "absent" || state.phase === "abandoned") return {};
  const { firstReceivedAt = state.phase === "blocked" ? state.refused.received_at : undefined } = state;
  return defined({ firstReceivedAt });
};

type Decided = Decision<BundleEvent, BundleRejection>;

const decisionOf = (command: CommandOf<"Admit" | "Block" | "Hold">): BundleEvent => {
  if (command.type === "Hold") return { type: "BundleHeld", data: { ...command.request, approval: command.approval } };
  return { type: command.type === "Admit" ? "BundleAdmitted" : "BundleBlocked", data: command.request };
};

const holdEnded = (
  { request, approval }: HeldBundleState,
  outcome: HoldOutcome,
  reason: Reason,
  at: string,
): Decided => {
  const { bundle_id, ledgers = [], cost: estimate } = request;
  const { approval_id } = approval;
  return accept<BundleEvent>(
    { type: "BundleHoldEnded", data: { bundle_id, approval_id, outcome, reason, at } },
    { type: "BundleCostDetermined", data: { bundle_id, ledgers, estimate, cost: null, at } },
  );
};

/** `BundleReleased` both uses up the approval and starts the bundle, so a second release changes nothing. */
const decideRelease = ({ approvalId, digest, at }: CommandOf<"Release">, state: Bundle): Decided => {
  if (state.phase === "running") return state.approvalId === approvalId ? accept() : reject("already-decided");
  if (state.phase === "stopped") return reject("already-ended");
  if (state.phase !== "held" || state.approval.approval_id !== approvalId) return reject("not-held");
  const { request, approval } = state;
  if (approval.digest !== digest) return reject("digest-mismatch");
  const data = { bundle_id: request.bundle_id, approval_id: approvalId, digest, at };
  return accept({ type: "BundleReleased", data });
};

const decideHoldAgain = ({ approvalId, request, approval, at }: CommandOf<"HoldAgain">, state: Bundle): Decided => {
  if (state.phase !== "held") return reject("not-held");
  const { approval_id, digest } = state.approval;
  // Another node has already held the bundle again, under a new approval.
  if (approval_id !== approvalId) return accept();
  const previous = { approval_id, digest, used: false };
  return accept({ type: "BundleHeldAgain", data: { ...request, approval, previous, held_at: at } });
};

const decideEndHold = (command: CommandOf<"EndHold">, state: Bundle): Decided => {
  const { outcome, reason, at } = command;
  if (state.phase === "held")
    return endsHold(command, state.approval) ? holdEnded(state, outcome, reason, at) : accept();
  if (state.phase === "stopped") return accept();
  return reject(state.phase === "running" ? "already-decided" : "not-held");
};

const decideCancel = (command: CommandOf<"Cancel">, state: Bundle): Decided => {
  if (state.phase === "held") return holdEnded(state, "cancelled", command.reason, command.at);
  if (state.phase === "stopped") return accept();
  return state.phase === "running" ? decideCancelRunning(command, state) : reject("not-found");
};

/** Stream `bundle-<id>`: several actions that are done or taken back as one. */
export const bundle: Decider<Bundle, BundleCommand, BundleEvent, BundleRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
        return { ...running(event.data, event.data.at, null), ...firstReceiptOf(state) };
      case "BundleBlocked":
        return { phase: "blocked", ...firstReceiptOf(state), refused: event.data, erasedUpTo: erasedUpTo(state) };
      case "BundleHeld": {
        const { approval, ...request } = event.data;
        return { phase: "held", ...firstReceiptOf(state), request, approval, heldAt: request.at };
      }
      case "BundleHeldAgain": {
        if (state.phase !== "held") return state;
        const { approval, previous: _, held_at: heldAt, ...request } = event.data;
        return { ...state, request, approval, heldAt };
      }
      case "BundleAbandoned":
        return state.phase === "absent" ? { phase: "abandoned", erasedUpTo: null } : state;
      case "BundlePayloadErased":
        if (state.phase !== "abandoned" && state.phase !== "blocked") return state;
        return { ...state, erasedUpTo: erasedWith(state.erasedUpTo, event.data) };
      case "BundleReleased":
        if (state.phase !== "held") return state;
        return { ...running(state.request, event.data.at, state.approval.approval_id), ...firstReceiptOf(state) };
      case "BundleHoldEnded": {
        if (state.phase !== "held") return state;
        const { outcome, reason, at } = event.data;
        const { heldAt: _, ...held } = state;
        return { ...held, phase: "stopped", outcome, reason, at };
      }
      default:
        if (state.phase === "running") return evolveRunning(state, event);
        if (state.phase === "stopped" && event.type === "BundleCostDetermined")
          return { ...state, spent: event.data.cost };
        return state;
    }
  },

  decide(command, state) {
    switch (command.type) {
      case "Admit":
      case "Block":
      case "Hold":
        return isClaimed(state) ? reject("already-decided") : accept(decisionOf(command));
      case "Abandon": {
        if (isClaimed(state)) return reject("already-decided");
        const { bundleId: bundle_id, at } = command;
        return accept({ type: "BundleAbandoned", data: { bundle_id, at } });
      }
      case "HoldAgain":
        return decideHoldAgain(command, state);
      case "Release":
        return decideRelease(command, state);
      case "EndHold":
        return decideEndHold(command, state);
      case "Cancel":
        return decideCancel(command, state);
      case "Resolve":
        if (state.phase === "running") return decideResolve(command, state);
        return reject(isClaimed(state) ? "nothing-to-resolve" : "not-found");
      default:
        return state.phase === "running"
          ? decideMove(command, state)
          : reject(isClaimed(state) ? "not-next" : "not-found");
    }
  },
};
