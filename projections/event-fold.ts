import type { DeliveryEvent, Replay, Request } from "../domain/delivery/events.ts";
import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { Position, RecordedEvent } from "../domain/ports/event-log.ts";
import type { Attempt, EventDocument, EventReplay, Stage } from "./event-document.ts";
import { eventOf } from "./projection.ts";
import { bundleOf } from "./streams.ts";

/** The stages of a decision: received, authenticated, gated, and its outcome. */
const DECISION_STAGES = 4;

const DECIDED = {
  EventAdmitted: "admitted",
  EventBlocked: "blocked",
  EventHeld: "held",
} as const satisfies Partial<Record<DeliveryEvent["type"], Stage["stage"]>>;

export type Decision = Extract<DeliveryEvent, { type: keyof typeof DECIDED }>;

type Determined = Extract<DeliveryEvent, { type: "CostDetermined" }>["data"];
type StepEnded = Extract<DeliveryEvent, { type: "BundleStepEnded" }>["data"];

/** A delivery without effect has the cost null and is refunded. What had no cost and reported none still has none. */
export const determinedCost = (before: number | null, { cost, counted, basis }: Determined): number | null =>
  before === null && basis !== "reported" && counted === undefined ? null : (cost ?? 0) + (counted ?? 0);

/** The event of a step of a bundle whose cost an undo gave back; null for any other record. */
export const givenBackIn = (recorded: RecordedEvent): string | null => {
  const { gives_back } = recorded.data;
  return recorded.type === "StepUndone" && bundleOf(recorded) !== null && typeof gives_back === "string"
    ? gives_back
    : null;
};

/** What had no cost, and took none, still has none. */
export const endedCost = (before: number | null, { cost }: Pick<StepEnded, "cost">): number | null =>
  before === null && (cost ?? 0) === 0 ? null : (cost ?? 0);

// `hasOwn`, because an event type may be called "constructor", which every object has.
export const isDecision = ({ type }: { readonly type: string }): boolean => Object.hasOwn(DECIDED, type);

export const admittedStatus = (endpointId: string | null): DeliveryStatus =>
  endpointId === null ? "recorded" : "queued";

/** At most this many replays are kept, so that a program that replays one event for ever does not grow its document. */
const REPLAYS_MAX = 50;

const withReplay = (before: EventDocument | null, replay: EventReplay | null): Pick<EventDocument, "replays"> => {
  const all = [...(before?.replays ?? []), ...(replay === null ? [] : [replay])];
  if (all.length === 0) return {};
  return { replays: all.slice(-REPLAYS_MAX) };
};

const replayedStage = ({ reason }: Replay, at: string): Stage =>
  reason === null ? { stage: "replayed", at } : { stage: "replayed", at, reason };

const stagesOf = (
  { origin, received_at, authenticated_at, at, replay }: Request,
  last: Stage["stage"],
): readonly Stage[] => {
  // The service itself sends notifications, which pass no gate.
  if (origin.kind === "system") return [{ stage: last, at }];
  // A replay asks the gates again but does not receive the event again.
  if (replay !== undefined) return [replayedStage(replay, at), { stage: "gated", at }, { stage: last, at }];
  return [
    { stage: "received", at: received_at },
    { stage: "authenticated", at: authenticated_at },
    { stage: "gated", at },
    { stage: last, at },
  ];
};

const decided = (
  before: EventDocument | null,
  { type, data: request }: Decision,
  { account, trace_id }: RecordedEvent["meta"],
): EventDocument => {
  const { revision, content_type, size, commitment, head } = request.payload;
  const last = DECIDED[type];
  const stages = stagesOf(request, last);
  return {
    account,
    status: last === "admitted" ? admittedStatus(request.endpoint_id) : last,
    origin: request.origin,
    origin_kind: request.origin.kind,
    origin_id: request.origin.id,
    endpoint_id: request.endpoint_id,
    type: request.type,
    delivery_id: request.delivery_key,
    received_at: before?.received_at ?? request.received_at,
    payload: {
      revision,
      content_type,
      size,
      sha256: commitment,
      erased_at: null,
      ...(head === undefined ? {} : { head: { size: head.size, sha256: head.commitment } }),
    },
    verdict: request.verdict,
    cost: request.cost,
    decisions: (before?.decisions ?? 0) + 1,
    duplicates: before?.duplicates ?? 0,
    reused: before?.reused ?? 0,
    trace_id,
    failure: null,
    attempts: [],
    // Only the first decision's stages and the last's are kept, so that a sender that repeats a blocked event for ever
    // does not grow the document.
    timeline: before === null ? stages : [...before.timeline.slice(0, DECISION_STAGES), ...stages],
    // The members that a document may lack come last: those after them would take much longer.
    ...(request.verdict.policy === null ? {} : { policy_id: request.verdict.policy.id }),
    ...(request.run === undefined || request.run.id === null ? {} : { run_id: request.run.id }),
    ...(request.sample === undefined ? {} : { sample: request.sample }),
    ...(request.bundle === undefined ? {} : { bundle: request.bundle }),
    ...withReplay(before, request.replay === undefined ? null : { ...request.replay, at: request.at }),
  };
};

type Replayed = Extract<DeliveryEvent, { type: "EventReplayed" }>["data"];

const replayed = (
  document: EventDocument,
  { replay_id: id, by, reason, cost, counted, at }: Replayed,
): EventDocument => {
  const { stopped_at: _, ...rest } = document;
  const replay = { id, by, reason, at };
  return {
    ...rest,
    status: "retrying",
    failure: null,
    // With `counted`, an earlier delivery's cost stays; the cost of the replay adds to it when it is determined.
    cost: cost === undefined || counted !== undefined ? document.cost : cost,
    ...withReplay(document, replay),
    attempts: document.attempts.map(unknownIfRunning),
    timeline: [...document.timeline, replayedStage(replay, at)],
  };
};

type Started = Extract<DeliveryEvent, { type: "AttemptStarted" }>["data"];

const unknownIfRunning = (attempt: Attempt): Attempt =>
  attempt.outcome === "running" ? { ...attempt, outcome: "unknown" } : attempt;

const started = (document: EventDocument, { number, trigger, at }: Started): EventDocument => ({
  ...document,
  status: "delivering",
  attempts: [
    ...document.attempts.map(unknownIfRunning),
    {
      number,
      trigger,
      started_at: at,
      outcome: "running",
      duration_ms: null,
      status_code: null,
      failure: null,
      timings_ms: null,
      next_attempt_at: null,
    },
  ],
  timeline: [...document.timeline, { stage: "attempt", at, number }],
});

type HoldEvent = Extract<
  DeliveryEvent,
  { type: "EventHeldAgain" | "EventReleased" | "HoldEnded" | "CancellationRequested" | "EventCancelled" }
>;
type AttemptEvent = Extract<DeliveryEvent, { type: "AttemptSucceeded" | "AttemptFailed" }>;

const ended = (attempt: Attempt, { type, data }: AttemptEvent): Attempt => {
  const { duration_ms, status_code, timings_ms } = data;
  if (type === "AttemptSucceeded") return { ...attempt, outcome: "succeeded", duration_ms, status_code, timings_ms };
  const { failure, next_attempt_at } = data;
  return { ...attempt, outcome: "failed", duration_ms, status_code, timings_ms, failure, next_attempt_at };
};

const withEnd = (document: EventDocument, event: AttemptEvent): readonly Attempt[] =>
  document.attempts.map((attempt) => (attempt.number === event.data.number ? ended(attempt, event) : attempt));

/** Repeats share one stage with a count, so that a sender that repeats itself for ever does not grow the document. */
const repeated = (timeline: readonly Stage[], stage: Stage["stage"], count: number, at: string): readonly Stage[] => {
  const before = timeline.find((it) => it.stage === stage);
  if (before === undefined) return [...timeline, { stage, at, count, last_at: at }];
  return timeline.map((it) => (it === before ? { ...it, count: (it.count ?? 0) + count, last_at: at } : it));
};

const staged = ({ timeline }: EventDocument, at: string, ...stages: readonly Omit<Stage, "at">[]): readonly Stage[] => [
  ...timeline,
  ...stages.map((stage) => ({ at, ...stage })),
];

const evolveHold = (document: EventDocument, event: HoldEvent): EventDocument => {
  switch (event.type) {
    case "EventHeldAgain": {
      const { approval, held_at } = event.data;
      return {
        ...document,
        status: "held",
        approval_id: approval.approval_id,
        attempts: document.attempts.map(unknownIfRunning),
        timeline: staged(document, held_at, { stage: "held", reason: approval.reasons.at(-1) ?? "" }),
      };
    }
    case "EventReleased": {
      const { endpoint_id, attempts, at } = event.data;
      const status = attempts === undefined ? admittedStatus(endpoint_id) : "retrying";
      return { ...document, status, timeline: staged(document, at, { stage: "approved" }, { stage: "admitted" }) };
    }
    case "HoldEnded": {
      const { outcome, reason, at } = event.data;
      return { ...document, status: outcome, timeline: staged(document, at, { stage: outcome, reason }) };
    }
    case "CancellationRequested": {
      const { reason, at } = event.data;
      return { ...document, timeline: staged(document, at, { stage: "cancelling", reason }) };
    }
    case "EventCancelled": {
      const { reason, at } = event.data;
      const attempts = document.attempts.map(unknownIfRunning);
      return {
        ...document,
        status: "cancelled",
        attempts,
        timeline: staged(document, at, { stage: "cancelled", reason }),
      };
    }
  }
};

const evolveAttempt = (document: EventDocument, event: AttemptEvent, position: Position): EventDocument => {
  const attempts = withEnd(document, event);
  if (event.type === "AttemptSucceeded") return { ...document, attempts };
  return event.data.next_attempt_at === null
    ? { ...document, status: "failed", stopped_at: position, attempts }
    : { ...document, status: "retrying", attempts };
};

/** Records of an event without a document, and types that this version does not know, change nothing. */
export const evolveEvent = (document: EventDocument | null, recorded: RecordedEvent): EventDocument | null => {
  const event = eventOf<DeliveryEvent>(recorded);
  const { position } = recorded;
  switch (event.type) {
    case "EventAdmitted":
      return decided(document, event, recorded.meta);
    case "EventBlocked":
      return { ...decided(document, event, recorded.meta), stopped_at: position };
    case "EventHeld":
      return { ...decided(document, event, recorded.meta), approval_id: event.data.approval.approval_id };
  }
  if (document === null) return null;
  switch (event.type) {
    case "EventHeldAgain":
    case "EventReleased":
    case "HoldEnded":
    case "CancellationRequested":
    case "EventCancelled":
      return evolveHold(document, event);
    case "AttemptStarted":
      return started(document, event.data);
    case "AttemptSucceeded":
    case "AttemptFailed":
      return evolveAttempt(document, event, position);
    case "EventDelivered": {
      const timeline = staged(document, event.data.at, { stage: "delivered" });
      return { ...document, status: "delivered", failure: null, timeline };
    }
    case "DeliveryFailed": {
      const { failure, at } = event.data;
      return {
        ...document,
        status: "failed",
        failure,
        stopped_at: position,
        timeline: staged(document, at, { stage: "failed" }),
      };
    }
    case "EventReplayed":
      return replayed(document, event.data);
    case "CostDetermined":
      return { ...document, cost: determinedCost(document.cost, event.data) };
    case "BundleStepEnded":
      return { ...document, cost: endedCost(document.cost, event.data) };
    case "DuplicatesCounted": {
      const { count, at } = event.data;
      const timeline = repeated(document.timeline, "duplicate", count, at);
      return { ...document, duplicates: document.duplicates + count, timeline };
    }
    case "DeliveryIdReused": {
      const { count, at } = event.data;
      const timeline = repeated(document.timeline, "delivery_id_reused", count, at);
      return { ...document, reused: document.reused + count, timeline };
    }
    case "PayloadErased": {
      const { at } = event.data;
      const payload = { ...document.payload, erased_at: at };
      return { ...document, payload, timeline: staged(document, at, { stage: "payload_erased" }) };
    }
    case "PayloadDamageFound":
      return { ...document, timeline: staged(document, event.data.at, { stage: "payload_damaged" }) };
    default:
      return document;
  }
};
