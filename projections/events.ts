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

/** `unknown`: it began and nobody recorded its end, as the process was gone. */
type AttemptOutcome = "running" | "succeeded" | "failed" | "unknown";

/** Headers and bodies are in `payload-<event>`, where an erasure takes them along. */
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
  /** Of an attempt. */
  readonly number?: number;
  /** Why, where people or the system ended it, or people had it sent again. */
  readonly reason?: string;
  /** Of what was sent again, where it came first: how often, and when last. */
  readonly count?: number;
  readonly last_at?: string;
};

/** Once more, and who wanted it. */
export type EventReplay = Replay & { readonly at: string };

/** What `GET /v1/events/{id}` shows, but for what the payload's stream holds. Money in micro-euros. */
export type EventDocument = {
  readonly account: string;
  readonly status: DeliveryStatus;
  readonly origin: Origin;
  /** These two again, as fields to search by. */
  readonly origin_kind: Origin["kind"];
  readonly origin_id: string;
  readonly endpoint_id: string | null;
  readonly type: string;
  readonly delivery_id: string;
  /** Of the first request: it stays, so that the event keeps its place in every list. */
  readonly received_at: string;
  readonly payload: {
    readonly revision: number;
    readonly content_type: string;
    readonly size: number;
    readonly sha256: string;
    /** Missing where the whole body is stored. */
    readonly head?: PayloadHead;
    readonly erased_at: string | null;
  };
  readonly verdict: Verdict;
  readonly cost: number | null;
  /** Missing when none was needed. */
  readonly approval_id?: string;
  /** Missing when it is none of a bundle. */
  readonly bundle?: BundleStep;
  /** More than one when a blocked event was sent again. */
  readonly decisions: number;
  readonly duplicates: number;
  /** Requests with this delivery id and another body. */
  readonly reused: number;
  readonly trace_id: string;
  /** Why it failed in the end. */
  readonly failure: Failure | null;
  /** Of a failed or blocked one, the record that said so: a replay takes what had come to that before it began. */
  readonly stopped_at?: Position;
  /** As it stands, of what a replay of many may take: neither erased nor a bundle's step; missing for all others. */
  readonly replayable?: ReplayFilter["status"];
  /** Oldest first; missing when there was none. */
  readonly replays?: readonly EventReplay[];
  /** The first and the last ones. */
  readonly attempts: readonly Attempt[];
  /** How many came between those that are shown; missing for none. */
  readonly attempts_left_out?: number;
  /** The first and the last stages. */
  readonly timeline: readonly Stage[];
  readonly stages_left_out?: number;
};

/**
 * What an account's events have in common, under the account's id and without the fields that lists search by: with it a
 * search needs no index by the beginning of a type or by delivery id, which every event would have to pay for.
 */
export type SeenInAccount = {
  readonly types: readonly string[];
  /** False when there were more types than are kept. */
  readonly types_complete: boolean;
  /** Sources, agents and names of notifications, the latest to appear last. */
  readonly origins: readonly string[];
};

/** More different types than any provider has; a sender that invents them must not grow the document. */
const TYPES_MAX = 500;
/** Ten times the sources of the largest plan, for those that were deleted. */
const ORIGINS_MAX = 1_000;
/** Shown of attempts and of stages: a program that replays, or an endpoint that is probed for ever, must not grow a document. */
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

// Own keys only: a type called "constructor" is not one of them.
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
  // A notification was sent by nobody, and asked no gate.
  if (origin.kind === "system") return [{ stage: last, at }];
  // It has not come a second time.
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

/** A failed one begins anew. */
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
    // What it was counted for before stays.
    ...(cost === undefined || counted !== undefined ? {} : { cost }),
    ...withReplay(document, replay),
    attempts: document.attempts.map(unknownIfRunning),
    timeline: [...document.timeline, replayedStage(replay, at)],
  };
};

type Started = Extract<DeliveryEvent, { type: "AttemptStarted" }>["data"];

/** Nobody recorded its end, and nobody is going to. */
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

/** One stage however often it comes: a sender that repeats itself for ever must not grow the document. */
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
      // Given back, it was for nothing.
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

/** A payload that is not there as a whole cannot be sent, and a bundle's step is sent again by nothing but its bundle. */
const replayableOf = ({ status, payload, bundle }: EventDocument): Pick<EventDocument, "replayable"> =>
  (status === "failed" || status === "blocked") &&
  payload.erased_at === null &&
  payload.head === undefined &&
  bundle === undefined
    ? { replayable: status }
    : {};

/** As it is kept: no longer than it may be, and found by what may be done with it. */
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

/** One document an API event, for the inspector; and one an account with what its events have in common. */
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
      // The last: of indexes that would do equally well, the one declared last is taken.
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
    // Plain JSON throughout; the compiler does not see that of a type with optional members.
    if (after !== null && after !== before) documents.put(id, kept(after) as unknown as Document);
    if (!isDecision(event)) return;
    const { account } = event.meta;
    const seen = (documents.get(account) as SeenInAccount | null) ?? NOTHING_SEEN;
    // From the event alone: the document above may be folded further than this one.
    const more = withEvent(seen, event.data as unknown as Request);
    if (more !== seen) documents.put(account, more);
  },
};
