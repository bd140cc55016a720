import type { ReplayFilter } from "../../../domain/replay/events.ts";
import { SKIP_REASONS } from "../../../projections/replay-skips.ts";
import type { ReplayDocument } from "../../../projections/replays.ts";
import { nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import { LISTING_QUERY } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { severalOf } from "../../http/several-values.ts";
import { idsOf } from "../../http/with-ids.ts";
import type { EventPlan } from "../../replays/event-plans.ts";
import type { WaitingAt } from "../../replays/plan.ts";

const STATUSES = ["running", "done", "cancelled"] as const satisfies readonly ReplayDocument["status"][];

export const LIST_QUERY = {
  status: severalOf(STATUSES, "Only replays with one of these statuses"),
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

const count: JsonSchema = { type: "integer", minimum: 0 };

const REASON_LENGTH_MAX = 500;
const REASON = {
  type: "string",
  minLength: 1,
  maxLength: REASON_LENGTH_MAX,
  description: "Why, for the audit",
} as const satisfies JsonSchema;

/** Requests per second: so few that most receivers can take them besides their own traffic. */
export const RATE_PER_SECOND = 10;
const RATE_MAX = 1_000;
const ID_LENGTH_MAX = 64;

const FILTER = named("ReplayFilter", {
  type: "object",
  required: ["status"],
  properties: {
    status: { enum: ["failed", "blocked"], description: "blocked: they pass the gates again" },
    source_id: { ...text, minLength: 1, maxLength: ID_LENGTH_MAX },
    endpoint_id: { ...text, minLength: 1, maxLength: ID_LENGTH_MAX },
    from: { ...time, description: "Received at this time or later" },
    to: { ...time, description: "Received before this time" },
  },
  additionalProperties: false,
} as const satisfies JsonSchema & { readonly properties: Record<keyof ReplayFilter, JsonSchema> });

export const REASON_BODY = named("ReplayReason", {
  type: "object",
  additionalProperties: false,
  properties: { reason: REASON },
  examples: [{ reason: "The application was repaired" }],
});

export const NEW_REPLAY = named("NewReplay", {
  type: "object",
  required: ["filter"],
  properties: {
    filter: FILTER,
    dry_run: { type: "boolean", description: "Only preview it" },
    rate_per_second: {
      type: "number",
      minimum: 1,
      maximum: RATE_MAX,
      description: `${RATE_PER_SECOND} when left out`,
    },
    reason: REASON,
  },
  additionalProperties: false,
  examples: [{ filter: { status: "failed", from: "2026-01-31T00:00:00.000Z" }, dry_run: true }],
});

const SKIPS: JsonSchema = {
  type: "array",
  items: named("SkippedEvents", object({ reason: { enum: SKIP_REASONS }, count })),
};

const WAIT_REASON: JsonSchema = { enum: ["circuit-open", "endpoint-disabled"] };

const WAITING_AT: JsonSchema = {
  type: "array",
  items: named("WaitingEvents", object({ endpoint_id: text, reason: WAIT_REASON, count })),
  description: "Where they wait, and for what",
};

export const PLAN: JsonSchema = named(
  "ReplayPlan",
  object({
    count: { ...count, description: "Sent or, if blocked, decided again; those of `skipped` are not among them" },
    waiting: { ...count, description: "The part of `count` that waits, as its endpoint takes no deliveries now" },
    waiting_at: WAITING_AT,
    skipped: SKIPS,
    oldest: nullableTime,
    newest: nullableTime,
    endpoints: { type: "array", items: object({ id: nullable("string"), count }) },
    estimated_s: { type: "number", description: "From the rates of the replay and of the endpoints" },
  }),
);

export const PLANNED_EVENTS_QUERY = { event_ids: idsOf("evt_") } as const satisfies Record<string, JsonSchema>;

export const PLANNED_EVENTS: JsonSchema = named(
  "EventReplayPlans",
  object({
    data: {
      type: "array",
      items: named(
        "EventReplayPlan",
        object<EventPlan>({
          event_id: text,
          status: { ...text, description: "As lists show it; a blocked event passes the gates again" },
          skipped: {
            enum: [...SKIP_REASONS, null],
            description: "Why it would not be replayed; changed: it has neither failed nor was it blocked",
          },
          waiting: {
            ...object({ endpoint_id: text, reason: WAIT_REASON }),
            type: ["object", "null"],
            description: "circuit-open: it is sent once, as a probe, and waits if that fails",
          },
        }),
      ),
    },
  }),
);

export const BY = named("ReplayedBy", object({ kind: { enum: ["member", "key"] }, id: text }));

export const STARTED: JsonSchema = named(
  "StartedReplay",
  object({
    id: text,
    status: { enum: ["running"] },
    total: { ...count, description: "All events of the filter, those that are skipped included" },
    waiting: count,
    skipped: SKIPS,
  }),
);

export const CANCELLED: JsonSchema = named("CancelledReplay", object({ id: text, status: { enum: ["cancelled"] } }));

type ReplayAnswer = Omit<ReplayDocument, "account" | "replayed" | "excluded" | "open"> & {
  readonly id: string;
  readonly done: number;
  readonly waiting: number;
  readonly waiting_at: readonly WaitingAt[];
};

export const REPLAY: JsonSchema = named(
  "Replay",
  object<ReplayAnswer>({
    id: text,
    status: { enum: STATUSES },
    filter: FILTER,
    total: count,
    done: { ...count, description: "Replayed or skipped" },
    delivered: count,
    failed: { ...count, description: "Failed, refused, rejected or cancelled again" },
    skipped: { ...count, description: "Could not be replayed, or changed before their turn" },
    skipped_by: SKIPS,
    waiting: { ...count, description: "Replayed, and not sent as long as their endpoint takes no deliveries" },
    waiting_at: WAITING_AT,
    rate_per_second: { type: "number" },
    by: BY,
    reason: nullable("string"),
    started_at: time,
    ended_at: nullableTime,
    cancelled: named("ReplayCancellation", {
      ...object({ by: BY, reason: nullable("string") }),
      type: ["object", "null"],
    }),
  }),
);

export const REPLAYED_EVENT: JsonSchema = named(
  "ReplayedEvent",
  object({ event_id: text, replay_id: text, status: text, approval_id: text }, ["event_id", "replay_id", "status"]),
);

export const EVENT_REPLAYS: JsonSchema = {
  type: "array",
  items: object({ id: text, by: BY, reason: nullable("string"), at: time }),
};
