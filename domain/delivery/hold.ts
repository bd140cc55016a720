import { accept, type Decision, reject } from "../decider.ts";
import type { CommandOf, DeliveryRejection } from "./commands.ts";
import { costDetermined, costOnTop, type Reached, spentOnStep, UNSEEN } from "./cost.ts";
import type { DeliveryEvent, HeldAgain, HeldFor, HoldOutcome, StepOutcome } from "./events.ts";
import { countedOf, inReplays, replayField } from "./replay.ts";
import type { AdmittedDelivery, Delivery, HeldDelivery } from "./state.ts";

type Decided = Decision<DeliveryEvent, DeliveryRejection>;

/** Nobody will see the outcome of an attempt that was under way when the delivery was held again. */
const resumed = (before: AdmittedDelivery): Pick<AdmittedDelivery, "reached" | "mayBeDone" | "usedApprovals"> => {
  const { reached, outcome } = knownSoFar(before);
  const { usedApprovals = [], approvalId } = before;
  const used = approvalId === null ? usedApprovals : [...usedApprovals, approvalId];
  return { reached, mayBeDone: outcome === "unknown", usedApprovals: used };
};

export const released = (
  held: HeldDelivery,
  { endpoint_id, at }: Extract<DeliveryEvent, { type: "EventReleased" }>["data"],
): AdmittedDelivery => {
  const { request, approval, heldAt, before } = held;
  const approved = { request, admittedAt: at, approvalId: approval.approval_id, hold: { approval, heldAt } };
  // Its attempts stay counted, and so does what is known of them.
  if (before !== undefined) {
    return { ...before, ...resumed(before), ...approved, lease: null, dueAt: at, erased: held.erased };
  }
  return {
    phase: "admitted",
    ...inReplays(held),
    ...approved,
    attempts: 0,
    lease: null,
    dueAt: endpoint_id === null ? null : at,
    end: endpoint_id === null ? "recorded" : null,
    erased: held.erased,
    cancelling: null,
    reached: null,
    mayBeDone: false,
  };
};

export const heldAgain = (
  state: HeldDelivery | AdmittedDelivery,
  { approval, previous: _, held_at: heldAt, ...request }: HeldAgain,
): HeldDelivery => {
  const before = state.phase === "admitted" ? state : state.before;
  const { erased } = state;
  const held = { phase: "held", ...inReplays(state), request, approval, heldAt, erased } as const;
  if (before === undefined) return held;
  return { ...held, before, ...(before.paid === undefined ? {} : { paid: before.paid }) };
};

/** An admitted delivery that ends without having been delivered. */
export const endedAs = (state: AdmittedDelivery, end: HoldOutcome): Extract<Delivery, { phase: "ended" }> => {
  const { request, approvalId, usedApprovals, attempts, paid } = state;
  const counted = countedOf(state);
  return {
    ...{ phase: "ended", ...inReplays(state), request, end, approvalId, attempts },
    ...(usedApprovals === undefined ? {} : { usedApprovals }),
    ...(counted === null ? {} : { counted }),
    ...(paid === undefined ? {} : { paid }),
  };
};

export const holdOver = (held: HeldDelivery, end: HoldOutcome): Extract<Delivery, { phase: "ended" }> => {
  const { request, before, approval } = held;
  const heldFor = approval.approval_id;
  if (before !== undefined) return { ...endedAs(before, end), heldFor };
  return { phase: "ended", ...inReplays(held), request, end, approvalId: null, heldFor, attempts: 0 };
};

const holdEnded = (held: HeldDelivery, outcome: HoldOutcome, reason: string, at: string): Decided => {
  const { request, approval, before } = held;
  const { approval_id } = approval;
  return accept<DeliveryEvent>(
    {
      type: "HoldEnded",
      data: { event_id: request.event_id, approval_id, outcome, reason, ...replayField(before ?? { request }), at },
    },
    ...(before === undefined ? costDetermined(request, null, at) : endedWith(before, knownSoFar(before), at)),
  );
};

/** A bundle's step has no hold of its own: its bundle rolls back. */
export const decideHoldAgain = (
  { approvalId, bound, approval, at }: CommandOf<"HoldAgain">,
  state: Delivery,
  isLeased: (state: AdmittedDelivery) => boolean,
): Decided => {
  if (state.phase !== "held" && state.phase !== "admitted") return reject("not-held");
  const hold = state.phase === "held" ? state : state.hold;
  // Held again already, by another node.
  if (hold === undefined || hold.approval.approval_id !== approvalId) return accept();
  if (state.phase === "admitted") {
    if (state.end !== null || state.dueAt === null) return reject("already-ended");
    if (isLeased(state)) return reject("leased");
    if (state.cancelling !== null) return accept(...eventCancelled(state, state.cancelling, at));
  }
  const { digest } = hold.approval;
  const previous = { approval_id: approvalId, digest, used: state.phase === "admitted" };
  return accept({ type: "EventHeldAgain", data: { ...state.request, bound, approval, previous, held_at: at } });
};

/** A receiver has answered an attempt of before the hold that it has the event. */
export const holdWithdrawn = ({ request, approval: { approval_id } }: HeldDelivery, at: string): DeliveryEvent => {
  const { event_id, endpoint_id } = request;
  return { type: "HoldWithdrawn", data: { event_id, approval_id, endpoint_id: endpoint_id ?? "", at } };
};

/** Consuming the approval and starting the execution: whoever comes second finds it done. */
export const decideRelease = ({ approvalId, digest, at }: CommandOf<"Release">, state: Delivery): Decided => {
  if (state.phase === "admitted") return state.approvalId === approvalId ? accept() : reject("already-admitted");
  if (state.phase === "ended") return reject("already-ended");
  if (state.phase !== "held" || state.approval.approval_id !== approvalId) return reject("not-held");
  const { request, approval, before } = state;
  if (approval.digest !== digest) return reject("digest-mismatch");
  const event: DeliveryEvent = {
    type: "EventReleased",
    data: {
      event_id: request.event_id,
      approval_id: approvalId,
      digest,
      origin_kind: request.origin.kind,
      endpoint_id: request.endpoint_id,
      observed: request.verdict.observed === true,
      held_at: request.at,
      ...(before === undefined ? {} : { attempts: before.attempts }),
      at,
    },
  };
  // A source's event has cost what it costs by being admitted first, as it would have without the hold.
  const isPaidNow = request.origin.kind === "source" && before === undefined;
  return accept<DeliveryEvent>(event, ...(isPaidNow ? costDetermined(request, UNSEEN, at) : []));
};

/**
 * Whether an approval that has ended so ends the hold. One that was replaced meanwhile does so only by a rejection, which
 * stops the request wherever it would go by now.
 */
export const endsHold = (
  { approvalId, outcome }: { readonly approvalId?: string; readonly outcome: HoldOutcome },
  { approval_id }: HeldFor,
): boolean => approvalId === undefined || approvalId === approval_id || outcome === "rejected";

export const decideEndHold = (command: CommandOf<"EndHold">, state: Delivery): Decided => {
  const { outcome, reason, at } = command;
  if (state.phase === "held")
    return endsHold(command, state.approval) ? holdEnded(state, outcome, reason, at) : accept();
  if (state.phase === "ended") return accept();
  return reject(state.phase === "admitted" ? "already-admitted" : "not-held");
};

/** What is known of an admitted event as it ends. */
export type Known = {
  readonly reached: Reached | null;
  /** Of all attempts together. */
  readonly outcome: StepOutcome;
};

/** Without a success: an attempt whose outcome nobody knows makes that of all unknown, however the others were refused. */
export const outcomeWithout = (mayBeDone: boolean): StepOutcome => (mayBeDone ? "unknown" : "failed");

/** As it stands: of an attempt that is under way nobody will see the outcome any more. */
export const knownSoFar = ({ lease, reached, mayBeDone }: AdmittedDelivery): Known => ({
  reached: lease === null ? reached : (reached ?? UNSEEN),
  outcome: outcomeWithout(mayBeDone || lease !== null),
});

/** What an admitted event has cost when it ends at this moment; that of a source has been paid for already. */
const costOfEnd = ({ request, replay }: AdmittedDelivery, reached: Reached | null, at: string) => {
  if (request.origin.kind !== "agent") return [];
  const counted = replay?.counted ?? null;
  return replay === undefined || counted === null
    ? costDetermined(request, reached, at)
    : costOnTop(request, { id: replay.id, counted }, reached, at);
};

/**
 * What follows in the append that ends an admitted event: what it has cost, where that of a source has been paid for
 * already; for the bundle whose step it carries, with what came of it.
 */
export const endedWith = (
  state: AdmittedDelivery,
  { reached, outcome }: Known,
  at: string,
  neverSent = false,
): readonly DeliveryEvent[] => {
  const { request } = state;
  const { event_id, bundle } = request;
  if (bundle === undefined) return costOfEnd(state, reached, at);
  const data = {
    ...{ event_id, bundle, outcome, cost: spentOnStep(request, reached, outcome) },
    ...(reached === null || reached.reported === null ? {} : { reported: true as const }),
    ...(neverSent ? { never_sent: true as const } : {}),
    at,
  };
  return [{ type: "BundleStepEnded", data }];
};

export const eventCancelled = (
  state: AdmittedDelivery,
  reason: string,
  at: string,
  known = knownSoFar(state),
): readonly DeliveryEvent[] => {
  const { event_id, endpoint_id } = state.request;
  const about = { event_id, endpoint_id: endpoint_id ?? "", attempts: state.attempts };
  const data = { ...about, reason, ...replayField(state), at };
  return [{ type: "EventCancelled", data }, ...endedWith(state, known, at, state.attempts === 0)];
};

export const decideCancel = ({ reason, at, underWay = false }: CommandOf<"Cancel">, state: Delivery): Decided => {
  if (state.phase === "held") return holdEnded(state, "cancelled", reason, at);
  if (state.phase === "ended") return accept();
  if (state.phase !== "admitted") return reject("not-admitted");
  if (state.end !== null) return reject("already-ended");
  if (state.lease === null || (state.lease.until <= at && !underWay))
    return accept(...eventCancelled(state, reason, at));
  if (state.cancelling !== null) return accept();
  return accept({ type: "CancellationRequested", data: { event_id: state.request.event_id, reason, at } });
};
