import type {
  BundleStep,
  DeliveryEvent,
  Failure,
  HeldRequest,
  HoldOutcome,
  Origin,
  PayloadHead,
  Replay,
  Request,
  Timings,
} from "../domain/delivery/events.ts";
import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { Verdict } from "../domain/gate/verdict.ts";
import type { Position, RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document } from "../domain/ports/view-store.ts";
import type { ReplayFilter } from "../domain/replay/events.ts";
import type { Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** `unknown`: the attempt began and its process ended before it recorded an outcome. */
type AttemptOutcome = "running" | "succeeded" | "failed" | "unknown";

/** Headers and bodies are in `payload-<event>`, which can be erased. */
export type Attempt = {
  readonly number: number;
  readonly trigger: "auto" | "replay";
  readonly started_at: string;
  readonly outcome: AttemptOutcome;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly failure: Failure | null;
  readonly timings_ms: Timings | null;
  readonly next_attempt_at: string | null;
};

export type Stage = {
  readonly stage:
    | "received"
    | "authenticated"
    | "gated"
    | "admitted"
    | "blocked"
    | "held"
    | "approved"
    | "attempt"
    | "cancelling"
    | "replayed"
    | "delivered"
    | "failed"
    | "payload_erased"
    | "payload_damaged"
    | "duplicate"
    | "delivery_id_reused"
    | HoldOutcome;
  readonly at: string;
  /** The attempt's number. */
  readonly number?: number;
  /** Why people or the system ended it, or people replayed it. */
  readonly reason?: string;
  /** On a stage that was repeated: how often, and when last. */
  readonly count?: number;
  readonly last_at?: string;
};

export type EventReplay = Replay & { readonly at: string };

/** The content of `GET /v1/events/{id}` except the payload's. Money in micro-euros. */
export type EventDocument = {
  readonly account: string;
  readonly status: DeliveryStatus;
  readonly origin: Origin;
  /** Repeated as fields to search by. */
  readonly origin_kind: Origin["kind"];
  readonly origin_id: string;
  readonly endpoint_id: string | null;
  readonly type: string;
  readonly delivery_id: string;
  /** The first request's time, so that the event keeps its place in lists. */
  readonly received_at: string;
  readonly payload: {
    readonly revision: number;
    readonly content_type: string;
    readonly size: number;
    readonly sha256: string;
    /** Absent if the whole body is stored. */
    readonly head?: PayloadHead;
    readonly erased_at: string | null;
  };
  readonly verdict: Verdict;
  readonly cost: number | null;
  /** Absent if none was needed. */
  readonly approval_id?: string;
  /** Absent outside a bundle. */
  readonly bundle?: BundleStep;
  /** More than one if a blocked event was sent again. */
  readonly decisions: number;
  readonly duplicates: number;
  /** Requests with this delivery id and another body. */
  readonly reused: number;
  readonly trace_id: string;
  /** Why the delivery failed. */
  readonly failure: Failure | null;
  /**
   * The record at which the event failed or was blocked: a bulk replay takes the events that stopped before it began.
   */
  readonly stopped_at?: Position;
  /** The status by which a bulk replay may select the event; absent if it may not (erased, or a bundle's step). */
  readonly replayable?: ReplayFilter["status"];
  /** Oldest first; absent if there was none. */
  readonly replays?: readonly EventReplay[];
  /** The first and the last attempts. */
  readonly attempts: readonly Attempt[];
  /** The number of attempts left out between them. */
  readonly attempts_left_out?: number;
  /** The first and the last stages. */
  readonly timeline: readonly Stage[];
  readonly stages_left_out?: number;
};

/**
 * The types and origins of an account's events, stored under the account's id without search fields. With them a search
 * by the beginning of a type or by delivery id needs no index, which every event would have to write.
 */
export type SeenInAccount = {
  readonly types: readonly string[];
  /** False if there were more types than `TYPES_MAX`. */
  readonly types_complete: boolean;
  /** Sources, agents and names of notifications, the latest to appear last. */
  readonly origins: readonly string[];
};

/** More types than any provider has: a sender that invents types must not grow the document. */
const TYPES_MAX = 500;
/** Ten times the sources of the largest plan, to include deleted ones. */
const ORIGINS_MAX = 1_000;
/** Limits of attempts and stages: endless replays or probes must not grow a document. */
const FIRST_SHOWN = 10;
const LAST_SHOWN = 100;
/** The stages of one decision: received, authenticated, gated, and admitted, blocked or held. */
const DECISION_STAGES = 4;

const DECIDED = {
  EventAdmitted: "admitted",
  EventBlocked: "blocked",
  EventHeld: "held",
} as const satisfies Partial<Record<DeliveryEvent["type"], Stage["stage"]>>;

type Decision = Extract<DeliveryEvent, { type: keyof typeof DECIDED }>;

// Own keys only: an event type may be called "constructor".
const isDecision = ({ type }: { readonly type: string }): boolean => Object.hasOwn(DECIDED, type);

const admittedStatus = (endpointId: string | null): DeliveryStatus => (endpointId === null ? "recorded" : "queued");

/** A program that replays one event for ever must not grow its document. */
const REPLAYS_MAX = 50;

const withReplay = (before: EventDocument | null, replay: EventReplay | null): Pick<EventDocument, "replays"> => {
  const all = [...(before?.replays ?? []), ...(replay === null ? [] : [replay])];
  return all.length === 0 ? {} : { replays: all.slice(-REPLAYS_MAX) };
};

const replayedStage = ({ reason }: Replay, at: string): Stage => ({
  stage: "replayed",
  at,
  ...(reason === null ? {} : { reason }),
});

const stagesOf = (
  { origin, received_at, authenticated_at, at, replay }: Request,
  last: Stage["stage"],
): readonly Stage[] => {
  // The system sends notifications without any gate.
  if (origin.kind === "system") return [{ stage: last, at }];
  // A replay is not received again.
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
  { position, meta: { account, trace_id } }: RecordedEvent,
): EventDocument => {
  const { content_type, size, sha256, revision, head } = request.payload;
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
    payload: { revision, content_type, size, sha256, ...(head === undefined ? {} : { head }), erased_at: null },
    verdict: request.verdict,
    cost: request.cost,
    ...(type === "EventHeld" ? { approval_id: (request as HeldRequest).approval.approval_id } : {}),
    ...(request.bundle === undefined ? {} : { bundle: request.bundle }),
    decisions: (before?.decisions ?? 0) + 1,
    duplicates: before?.duplicates ?? 0,
    reused: before?.reused ?? 0,
    trace_id,
    failure: null,
    ...(last === "blocked" ? { stopped_at: position } : {}),
    ...withReplay(before, request.replay === undefined ? null : { ...request.replay, at: request.at }),
    attempts: [],
    // The first decision and the last: a sender that repeats a blocked event for ever must not grow the document.
    timeline: before === null ? stages : [...before.timeline.slice(0, DECISION_STAGES), ...stages],
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
    // The counted cost of an earlier delivery stays.
    ...(cost === undefined || counted !== undefined ? {} : { cost }),
    ...withReplay(document, replay),
    attempts: document.attempts.map(unknownIfRunning),
    timeline: [...document.timeline, replayedStage(replay, at)],
  };
};

type Started = Extract<DeliveryEvent, { type: "AttemptStarted" }>["data"];

/** An attempt without a recorded end. */
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

type AttemptEvent = Extract<DeliveryEvent, { type: "AttemptSucceeded" | "AttemptFailed" }>;

const endOf = ({ type, data }: AttemptEvent): Partial<Attempt> => {
  const { duration_ms, status_code, timings_ms } = data;
  const end = { duration_ms, status_code, timings_ms };
  return type === "AttemptSucceeded"
    ? { ...end, outcome: "succeeded" }
    : { ...end, outcome: "failed", failure: data.failure, next_attempt_at: data.next_attempt_at };
};

const withEnd = (document: EventDocument, event: AttemptEvent): readonly Attempt[] => {
  const end = endOf(event);
  return document.attempts.map((attempt) => (attempt.number === event.data.number ? { ...attempt, ...end } : attempt));
};

/** Repeats share one stage: a sender that repeats itself for ever must not grow the document. */
const repeated = (timeline: readonly Stage[], stage: Stage["stage"], count: number, at: string): readonly Stage[] => {
  const before = timeline.find((it) => it.stage === stage);
  if (before === undefined) return [...timeline, { stage, at, count, last_at: at }];
  return timeline.map((it) => (it === before ? { ...it, count: (it.count ?? 0) + count, last_at: at } : it));
};

const evolve = (document: EventDocument | null, recorded: RecordedEvent): EventDocument | null => {
  // The stream's category says which events are in it; a type that this build does not know falls through.
  const event = recorded as unknown as DeliveryEvent;
  if (event.type === "EventAdmitted" || event.type === "EventBlocked" || event.type === "EventHeld") {
    return decided(document, event, recorded);
  }
  if (document === null) return null;
  const staged = (...stages: readonly Omit<Stage, "at">[]): readonly Stage[] => [
    ...document.timeline,
    ...stages.map(({ stage, ...more }) => ({ stage, at: event.data.at, ...more })),
  ];
  switch (event.type) {
    case "EventHeldAgain": {
      const { approval, held_at: at } = event.data;
      const { approval_id } = approval;
      return {
        ...document,
        ...{ status: "held", approval_id },
        attempts: document.attempts.map(unknownIfRunning),
        timeline: [...document.timeline, { stage: "held", at, reason: approval.reasons.at(-1) ?? "" }],
      };
    }
    case "EventReleased": {
      const timeline = staged({ stage: "approved" }, { stage: "admitted" });
      const { endpoint_id, attempts } = event.data;
      return { ...document, status: attempts === undefined ? admittedStatus(endpoint_id) : "retrying", timeline };
    }
    case "HoldEnded": {
      const { outcome, reason } = event.data;
      return { ...document, status: outcome, timeline: staged({ stage: outcome, reason }) };
    }
    case "CancellationRequested":
      return { ...document, timeline: staged({ stage: "cancelling", reason: event.data.reason }) };
    case "EventCancelled":
      return {
        ...document,
        status: "cancelled",
        attempts: document.attempts.map(unknownIfRunning),
        timeline: staged({ stage: "cancelled", reason: event.data.reason }),
      };
    case "AttemptStarted":
      return started(document, event.data);
    case "AttemptSucceeded":
      return { ...document, attempts: withEnd(document, event) };
    case "AttemptFailed":
      return {
        ...document,
        ...(event.data.next_attempt_at === null
          ? { status: "failed", stopped_at: recorded.position }
          : { status: "retrying" }),
        attempts: withEnd(document, event),
      };
    case "EventDelivered":
      return { ...document, status: "delivered", failure: null, timeline: staged({ stage: "delivered" }) };
    case "DeliveryFailed":
      return {
        ...document,
        status: "failed",
        failure: event.data.failure,
        stopped_at: recorded.position,
        timeline: staged({ stage: "failed" }),
      };
    case "EventReplayed":
      return replayed(document, event.data);
    case "CostDetermined":
      // A delivery without effect is refunded.
      return { ...document, cost: (event.data.cost ?? 0) + (event.data.counted ?? 0) };
    case "BundleStepEnded":
      return { ...document, cost: event.data.cost ?? 0 };
    case "DuplicatesCounted":
      return {
        ...document,
        duplicates: document.duplicates + event.data.count,
        timeline: repeated(document.timeline, "duplicate", event.data.count, event.data.at),
      };
    case "DeliveryIdReused":
      return {
        ...document,
        reused: document.reused + event.data.count,
        timeline: repeated(document.timeline, "delivery_id_reused", event.data.count, event.data.at),
      };
    case "PayloadErased":
      return {
        ...document,
        payload: { ...document.payload, erased_at: event.data.at },
        timeline: staged({ stage: "payload_erased" }),
      };
    case "PayloadDamageFound":
      return { ...document, timeline: staged({ stage: "payload_damaged" }) };
    default:
      return document;
  }
};

type Shortened<T> = { readonly shown: readonly T[]; readonly leftOut: number };

const shortened = <T>(all: readonly T[], leftOut = 0): Shortened<T> => {
  const more = all.length - FIRST_SHOWN - LAST_SHOWN;
  if (more <= 0) return { shown: all, leftOut };
  return { shown: [...all.slice(0, FIRST_SHOWN), ...all.slice(-LAST_SHOWN)], leftOut: leftOut + more };
};

/** An incomplete payload cannot be sent, and only its bundle sends a step again. */
const replayableOf = ({ status, payload, bundle }: EventDocument): Pick<EventDocument, "replayable"> =>
  (status === "failed" || status === "blocked") &&
  payload.erased_at === null &&
  payload.head === undefined &&
  bundle === undefined
    ? { replayable: status }
    : {};

/** The document as stored: bounded, and with `replayable`. */
const kept = (document: EventDocument): EventDocument => {
  const { replayable: _, attempts_left_out, stages_left_out, ...rest } = document;
  const attempts = shortened(document.attempts, attempts_left_out);
  const stages = shortened(document.timeline, stages_left_out);
  return {
    ...rest,
    ...replayableOf(document),
    attempts: attempts.shown,
    ...(attempts.leftOut === 0 ? {} : { attempts_left_out: attempts.leftOut }),
    timeline: stages.shown,
    ...(stages.leftOut === 0 ? {} : { stages_left_out: stages.leftOut }),
  };
};

const NOTHING_SEEN: SeenInAccount = { types: [], types_complete: true, origins: [] };

const withEvent = (before: SeenInAccount, { type, origin }: Request): SeenInAccount => {
  let seen = before;
  if (!seen.origins.includes(origin.id))
    seen = { ...seen, origins: [...seen.origins.slice(1 - ORIGINS_MAX), origin.id] };
  if (!seen.types_complete || seen.types.includes(type)) return seen;
  return seen.types.length < TYPES_MAX
    ? { ...seen, types: [...seen.types, type].sort() }
    : { ...seen, types_complete: false };
};

/** One document for each API event, and one for each account with its types and origins. */
export const events: Projection = {
  schema: {
    name: "events.v2",
    fields: {
      account: "text",
      status: "text",
      origin_kind: "text",
      origin_id: "text",
      endpoint_id: "text",
      type: "text",
      replayable: "text",
      received_at: "text",
    },
    indexes: [
      ["account", "received_at"],
      ["account", "origin_id", "received_at"],
      ["account", "endpoint_id", "received_at"],
      ["account", "type", "received_at"],
      // Declared last because the last of equally good indexes is used.
      ["account", "status", "received_at"],
      ["account", "replayable", "received_at"],
    ],
  },

  idsOf: (event) => {
    const id = deliveryOf(event);
    if (id === null) return [];
    return isDecision(event) ? [id, event.meta.account] : [id];
  },

  apply(event, documents) {
    const id = deliveryOf(event);
    if (id === null) return;
    // The view's own documents come back as they were put.
    const before = documents.get(id) as unknown as EventDocument | null;
    const after = evolve(before, event);
    // Plain JSON; the compiler does not see that because of the optional members.
    if (after !== null && after !== before) documents.put(id, kept(after) as unknown as Document);
    if (!isDecision(event)) return;
    const { account } = event.meta;
    const seen = (documents.get(account) as SeenInAccount | null) ?? NOTHING_SEEN;
    // From the event alone: the event's document may be folded further than this one.
    const more = withEvent(seen, event.data as unknown as Request);
    if (more !== seen) documents.put(account, more);
  },
};
