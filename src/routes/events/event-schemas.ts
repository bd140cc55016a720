import type { Failure, Timings } from "../../../domain/delivery/attempt-end.ts";
import type { GateResult, Verdict } from "../../../domain/gate/verdict.ts";
import type { EventDetail, EventSummary, VisibleAttempt } from "../../bodies/event-answer.ts";
import { integer, nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import { listOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { BY, EVENT_REPLAYS } from "../replays/replay-schemas.ts";
import { ROLLBACKS, type StepOf } from "./step-rollbacks.ts";

const headers: JsonSchema = { type: "object", additionalProperties: { type: "string" } };

const failure: JsonSchema = named("DeliveryFailure", {
  ...object<Failure>({ kind: text, detail: text }),
  type: ["object", "null"],
});

const POLICY = { id: text, version: integer };
const POLICY_VERSION = named("PolicyVersion", object(POLICY));

const VERDICT: JsonSchema = named("Verdict", {
  type: "object",
  required: ["decision", "policy", "gates"],
  properties: {
    decision: { enum: ["allow", "deny", "hold"] },
    policy: { ...POLICY_VERSION, type: ["object", "null"] },
    policies: {
      type: "array",
      description: "All policies that were asked, where there are several: the strictest decides",
      items: named("AskedPolicy", {
        type: "object",
        required: ["id", "version"],
        properties: {
          ...POLICY,
          steps: { type: "array", items: integer, description: "Left out: it applies to the whole request" },
        },
      }),
    },
    gates: {
      type: "array",
      items: named("GateResult", {
        type: "object",
        required: ["gate", "outcome", "code", "detail"],
        properties: {
          gate: text,
          outcome: { enum: ["allow", "deny", "hold"] },
          code: text,
          detail: text,
          policy: { ...POLICY_VERSION, description: "Whose gate it is, where several policies were asked" },
        } satisfies Record<keyof GateResult, JsonSchema>,
      }),
    },
    observed: { type: "boolean", const: true, description: "Violated, but the policy only watches" },
  } satisfies Record<keyof Verdict, JsonSchema>,
});

const summary = {
  id: text,
  origin: named("Origin", object({ kind: { enum: ["source", "agent", "system"] }, id: text, name: text, type: text })),
  type: text,
  sample: {
    type: "boolean",
    description: "Made by POST /v1/sources/{id}/sample; it counts for neither quota nor bill",
  },
  status: text,
  received_at: time,
  endpoint_id: nullable("string"),
  delivery_id: { type: "string", description: "The sender's name for this delivery" },
  payload: named(
    "PayloadFacts",
    object({
      content_type: text,
      size: integer,
      sha256: text,
      kept: {
        enum: ["whole", "head"],
        description: "head: a refused body of which the first 4 KiB are kept, because refused_bytes_day was used up",
      },
      erased_at: nullableTime,
    }),
  ),
  verdict: VERDICT,
  cost_eur: nullable("number"),
  approval_id: nullable("string"),
  run: { type: ["string", "null"], description: "The agent's own id of the task; null if it gave none" },
  bundle: {
    ...named(
      "StepOf",
      object<StepOf>({
        id: text,
        index: integer,
        undo: { type: "boolean", description: "It takes the step back" },
        rollback: {
          enum: [...ROLLBACKS, null],
          description: "What its bundle made of the step later; left: a person still has to undo it",
        },
      }),
    ),
    type: ["object", "null"],
    description: "The step of a bundle that it carries or takes back",
  },
  duplicates: integer,
  delivery_id_reused: { type: "integer", description: "Requests with this delivery id and another body" },
  trace_id: text,
  failure,
  end_reason: {
    ...nullable("string"),
    description: "Why it was rejected, has expired or was cancelled; null for any other, and if no reason was given",
  },
  attempt_count: integer,
} satisfies Record<keyof EventSummary, JsonSchema>;

const attempt = named(
  "Attempt",
  object<VisibleAttempt>({
    number: integer,
    trigger: { enum: ["auto", "replay"] },
    started_at: time,
    duration_ms: nullable("integer"),
    outcome: { enum: ["running", "succeeded", "failed", "unknown"] },
    failure,
    status_code: nullable("integer"),
    timings_ms: {
      ...named(
        "Timings",
        object<Timings>({
          dns: { type: "number" },
          connect: { type: "number" },
          tls: { type: "number" },
          first_byte: nullable("number"),
          total: { type: "number" },
        }),
      ),
      type: ["object", "null"],
    },
    next_attempt_at: nullableTime,
    request: { ...named("SentRequest", object({ headers })), type: ["object", "null"] },
    response: {
      ...named(
        "ReceivedResponse",
        object<NonNullable<VisibleAttempt["response"]>>({
          headers,
          encoding: { enum: ["text", "base64"] },
          body: {
            type: ["string", "null"],
            description: "Null where the policy hides fields and the body is not JSON",
          },
          truncated: { type: "boolean" },
          kept: {
            enum: ["whole", "head"],
            description: "head: the first 1 KiB of the body, because stored_bytes_day was used up",
          },
          sha256: { type: ["string", "null"], description: "Of the received body, where only its head is kept" },
          redacted: { type: "boolean", description: "The policy hides fields, and the reader is not an admin" },
        }),
      ),
      type: ["object", "null"],
    },
  }),
);

const stage: JsonSchema = named("Stage", {
  type: "object",
  required: ["stage", "at", "ms"],
  properties: {
    stage: text,
    at: time,
    ms: { type: "integer", description: "Since the stage before" },
    number: { type: "integer", description: "Of an attempt" },
    outcome: { type: "string", description: "Of an attempt" },
    duration_ms: { type: ["integer", "null"], description: "Of an attempt" },
    status_code: { type: ["integer", "null"], description: "Of an attempt" },
    count: { type: "integer", description: "How often it was sent again" },
    last_at: { ...time, description: "When it was last sent again" },
    reason: { type: "string", description: "Why people or the system ended it, or it was replayed" },
    by: { ...BY, description: "Who had it replayed" },
  },
});

export const EVENT_SUMMARY: JsonSchema = named("EventSummary", object(summary));
export const ATTEMPTS: JsonSchema = listOf(attempt);
export const TIMELINE: JsonSchema = listOf(stage);
const detail = {
  ...summary,
  headers: { ...headers, type: ["object", "null"], description: "Of the request, secrets redacted; null once erased" },
  attempts: { type: "array", items: attempt, description: "Of more than 110 the first 10 and the last 100" },
  attempts_left_out: { type: "integer", description: "How many came between those" },
  replays: EVENT_REPLAYS,
  timeline: { type: "array", items: stage, description: "Of more than 110 stages the first 10 and the last 100" },
  stages_left_out: { type: "integer", description: "How many came between those" },
} satisfies Record<keyof EventDetail, JsonSchema>;

export const EVENT_DETAIL: JsonSchema = named("Event", object(detail));
