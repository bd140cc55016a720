import { accept, type Decision, reject } from "../decider.ts";
import { costDetermined, costOnTop, type Reached, spentOnStep, UNSEEN } from "./cost.ts";
import type { AdmittedDelivery, Delivery, DeliveryCommand, DeliveryRejection, HeldDelivery } from "./decider.ts";
import type { DeliveryEvent, HoldOutcome, StepOutcome } from "./events.ts";
import { inReplays, replayField } from "./replay.ts";

type Decided = Decision<DeliveryEvent, DeliveryRejection>;
type CommandOf<T extends DeliveryCommand["type"]> = Extract<DeliveryCommand, { type: T }>;

/** Decided for good: it is never decided a second time, whoever sends it again. */
export const isClaimed = ({ phase }: Delivery): boolean =>
  phase === "held" || phase === "admitted" || phase === "ended";

export const released = (
  held: HeldDelivery,
  { endpoint_id, at }: Extract<DeliveryEvent, { type: "EventReleased" }>["data"],
): AdmittedDelivery => ({
  phase: "admitted",
  ...inReplays(held),
  request: held.request,
  admittedAt: at,
  approvalId: held.approval.approval_id,
  attempts: 0,
  lease: null,
  dueAt: endpoint_id === null ? null : at,
  end: endpoint_id === null ? "recorded" : null,
  erased: held.erased,
  cancelling: null,
  reached: null,
  mayBeDone: false,
});

const holdEnded = ({ request, approval }: HeldDelivery, outcome: HoldOutcome, reason: string, at: string): Decided => {
  const { approval_id } = approval;
  return accept<DeliveryEvent>(
    {
      type: "HoldEnded",
      data: { event_id: request.event_id, approval_id, outcome, reason, ...replayField({ request }), at },
    },
    ...costDetermined(request, null, at),
  );
};

/** Consuming the approval and starting the execution: whoever comes second finds it done. */
export const decideRelease = ({ approvalId, digest, at }: CommandOf<"Release">, state: Delivery): Decided => {
  if (state.phase === "admitted") return state.approvalId === approvalId ? accept() : reject("already-admitted");
  if (state.phase === "ended") return reject("already-ended");
  if (state.phase !== "held" || state.approval.approval_id !== approvalId) return reject("not-held");
  const { request, approval } = state;
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
      at,
    },
  };
  // A source's event has cost what it costs by being admitted, as it would have without the hold.
  return accept<DeliveryEvent>(event, ...(request.origin.kind === "source" ? costDetermined(request, UNSEEN, at) : []));
};

export const decideEndHold = ({ outcome, reason, at }: CommandOf<"EndHold">, state: Delivery): Decided => {
  if (state.phase === "held") return holdEnded(state, outcome, reason, at);
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
