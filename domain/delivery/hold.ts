import { accept, type Decision, reject } from "../decider.ts";
import { costDetermined, costOnTop, type Reached, UNSEEN } from "./cost.ts";
import type { Delivery, DeliveryCommand, DeliveryRejection, HeldDelivery } from "./decider.ts";
import type { DeliveryEvent, HoldOutcome } from "./events.ts";
import { replayField } from "./replay.ts";

type Admitted = Extract<Delivery, { phase: "admitted" }>;
type Decided = Decision<DeliveryEvent, DeliveryRejection>;
type CommandOf<T extends DeliveryCommand["type"]> = Extract<DeliveryCommand, { type: T }>;

/** Decided for good: it is never decided a second time, whoever sends it again. */
export const isClaimed = ({ phase }: Delivery): boolean =>
  phase === "held" || phase === "admitted" || phase === "ended";

export const released = (
  { request, approval, erased }: HeldDelivery,
  { endpoint_id, at }: Extract<DeliveryEvent, { type: "EventReleased" }>["data"],
): Admitted => ({
  phase: "admitted",
  request,
  admittedAt: at,
  approvalId: approval.approval_id,
  attempts: 0,
  lease: null,
  dueAt: endpoint_id === null ? null : at,
  end: endpoint_id === null ? "recorded" : null,
  erased,
  cancelling: null,
  reached: null,
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

/** What an admitted event has cost when it ends at this moment; that of a source has been paid for already. */
export const costOfEnd = (
  { request, replay }: Admitted,
  reached: Reached | null,
  at: string,
): readonly DeliveryEvent[] => {
  if (request.origin.kind !== "agent") return [];
  const counted = replay?.counted ?? null;
  return replay === undefined || counted === null
    ? costDetermined(request, reached, at)
    : costOnTop(request, { id: replay.id, counted }, reached, at);
};

/** Of an attempt that is under way nobody will see the outcome any more. */
export const reachedSoFar = ({ lease, reached }: Admitted): Reached | null =>
  lease === null ? reached : (reached ?? UNSEEN);

export const eventCancelled = (
  state: Admitted,
  reason: string,
  at: string,
  reached = reachedSoFar(state),
): readonly DeliveryEvent[] => {
  const { event_id, endpoint_id } = state.request;
  const about = { event_id, endpoint_id: endpoint_id ?? "", attempts: state.attempts };
  const data = { ...about, reason, ...replayField(state), at };
  return [{ type: "EventCancelled", data }, ...costOfEnd(state, reached, at)];
};

export const decideCancel = ({ reason, at }: CommandOf<"Cancel">, state: Delivery): Decided => {
  if (state.phase === "held") return holdEnded(state, "cancelled", reason, at);
  if (state.phase === "ended") return accept();
  if (state.phase !== "admitted") return reject("not-admitted");
  if (state.end !== null) return reject("already-ended");
  if (state.lease === null || state.lease.until <= at) return accept(...eventCancelled(state, reason, at));
  if (state.cancelling !== null) return accept();
  return accept({ type: "CancellationRequested", data: { event_id: state.request.event_id, reason, at } });
};
