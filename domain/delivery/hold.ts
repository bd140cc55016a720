import { accept, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import type { Reason } from "../personal/words.ts";
import type { CommandOf, DeliveryRejection } from "./commands.ts";
import { costDetermined, UNSEEN } from "./cost.ts";
import { endedWith, eventCancelled, knownSoFar } from "./ending.ts";
import type { DeliveryEvent, HeldFor, HoldOutcome } from "./events.ts";
import { replayField } from "./replay.ts";
import { type ActiveDelivery, type Delivery, type HeldDelivery, isActive, isAdmitted } from "./state.ts";

type Decided = Decision<DeliveryEvent, DeliveryRejection>;

const holdEnded = (held: HeldDelivery, outcome: HoldOutcome, reason: Reason, at: string): Decided => {
  const { request, approval, before } = held;
  const { approval_id } = approval;
  const replay = replayField({ replay: before?.replay ?? null, request });
  return accept<DeliveryEvent>(
    { type: "HoldEnded", data: { event_id: request.event_id, approval_id, outcome, reason, ...replay, at } },
    ...(before === null ? costDetermined(request, null, at) : endedWith(before, knownSoFar(before), at)),
  );
};

/** A bundle's step is never held by itself: if its target changes, its bundle rolls back. */
export const decideHoldAgain = (
  { approvalId, bound, approval, at }: CommandOf<"HoldAgain">,
  state: Delivery,
  isLeased: (state: ActiveDelivery) => boolean,
): Decided => {
  if (state.phase !== "held" && !isAdmitted(state)) return reject("not-held");
  if (state.phase === "recorded") return reject("already-ended");
  const hold = state.phase === "held" ? state : state.hold;
  if (hold?.approval.approval_id !== approvalId) return accept();
  if (state.phase !== "held") {
    if (!isActive(state)) return reject("already-ended");
    if (isLeased(state)) return reject("leased");
    if (state.phase === "attempting" && state.cancelling !== null)
      return accept(...eventCancelled(state, state.cancelling, at));
  }
  const { digest } = hold.approval;
  const previous = { approval_id: approvalId, digest, used: state.phase !== "held" };
  return accept({ type: "EventHeldAgain", data: { ...state.request, bound, approval, previous, held_at: at } });
};

export const holdWithdrawn = ({ request, approval: { approval_id } }: HeldDelivery, at: string): DeliveryEvent => {
  const { event_id, endpoint_id } = request;
  return { type: "HoldWithdrawn", data: { event_id, approval_id, endpoint_id: endpoint_id ?? "", at } };
};

export const decideRelease = ({ approvalId, digest, at }: CommandOf<"Release">, state: Delivery): Decided => {
  if (isAdmitted(state)) return state.releases.at(-1) === approvalId ? accept() : reject("already-admitted");
  if (state.phase === "stopped") return reject("already-ended");
  if (state.phase !== "held" || state.approval.approval_id !== approvalId) return reject("not-held");
  const { request, approval, before } = state;
  if (approval.digest !== digest) return reject("digest-mismatch");
  const event: DeliveryEvent = {
    type: "EventReleased",
    data: defined({
      event_id: request.event_id,
      approval_id: approvalId,
      digest,
      origin_kind: request.origin.kind,
      endpoint_id: request.endpoint_id,
      ...(request.sample === undefined ? {} : { sample: true as const }),
      observed: request.verdict.observed === true,
      held_at: request.at,
      ...defined({ attempts: before?.attempts }),
      ...replayField({ replay: before?.replay ?? null, request }),
      at,
    }),
  };
  // The first release pays for a source's event, as its admission would have without the hold.
  const isPaidNow = request.origin.kind === "source" && before === null;
  return accept<DeliveryEvent>(event, ...(isPaidNow ? costDetermined(request, UNSEEN, at) : []));
};

/** The end of an approval that was replaced ends the hold only if people rejected the request, whatever its target. */
export const endsHold = (
  { approvalId, outcome }: { readonly approvalId?: string; readonly outcome: HoldOutcome },
  { approval_id }: HeldFor,
): boolean => approvalId === undefined || approvalId === approval_id || outcome === "rejected";

export const decideEndHold = (command: CommandOf<"EndHold">, state: Delivery): Decided => {
  const { outcome, reason, at } = command;
  if (state.phase === "held")
    return endsHold(command, state.approval) ? holdEnded(state, outcome, reason, at) : accept();
  if (state.phase === "stopped") return accept();
  return reject(isAdmitted(state) ? "already-admitted" : "not-held");
};

export const decideCancel = ({ reason, at, underWay = false }: CommandOf<"Cancel">, state: Delivery): Decided => {
  switch (state.phase) {
    case "absent":
    case "abandoned":
    case "blocked":
      return reject("not-admitted");
    case "held":
      return holdEnded(state, "cancelled", reason, at);
    case "stopped":
      return accept();
    case "recorded":
    case "delivered":
    case "failed":
      return reject("already-ended");
    case "waiting":
      return accept(...eventCancelled(state, reason, at));
    case "attempting":
      if (state.lease.until <= at && !underWay) return accept(...eventCancelled(state, reason, at));
      if (state.cancelling !== null) return accept();
      return accept({ type: "CancellationRequested", data: { event_id: state.request.event_id, reason, at } });
  }
};
