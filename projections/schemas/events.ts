import type { Timings } from "../../domain/delivery/attempt-end.ts";
import type { BundleStep, Replayer, Sample } from "../../domain/delivery/events.ts";
import type { AccountFacets } from "../account-facets.ts";
import type { Attempt, EventDocument, EventReplay, PayloadHead, Stage } from "../event-document.ts";
import { ORIGIN, origin_id, origin_kind, VERDICT } from "./decided.ts";
import {
  amount,
  closed,
  count,
  flag,
  type JsonSchema,
  list,
  oneOf,
  optional,
  orNull,
  text,
  time,
} from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, failure, reason, words } from "./words.ts";

export const EVENT_STATUSES: readonly EventDocument["status"][] = [
  "blocked",
  "held",
  "queued",
  "delivering",
  "retrying",
  "delivered",
  "failed",
  "recorded",
  "rejected",
  "expired",
  "cancelled",
];
const STAGES: readonly Stage["stage"][] = [
  "received",
  "authenticated",
  "gated",
  "admitted",
  "blocked",
  "held",
  "approved",
  "attempt",
  "cancelling",
  "replayed",
  "delivered",
  "failed",
  "payload_erased",
  "payload_damaged",
  "duplicate",
  "delivery_id_reused",
  "rejected",
  "expired",
  "cancelled",
];
const ms = (description: string): JsonSchema => amount(`${description} Milliseconds.`);
const status_code: JsonSchema = { type: "integer", description: "The HTTP status of the receiver's answer." };

const PAYLOAD = closed<EventDocument["payload"]>("Metadata of the payload, which itself is in no view.", {
  revision: count("The revision of the record in the stream payload-<event>."),
  content_type: text("The media type of the request."),
  size: count("Bytes."),
  sha256: text("Hex SHA-256 over its salt and its bytes. The salt is stored with the payload, and erased with it."),
  head: optional(
    closed<PayloadHead>("The stored beginning of the payload. Missing: all of it is stored.", {
      size: count("Bytes that are stored."),
      sha256: text("Hex SHA-256 over the same salt and these bytes."),
    }),
  ),
  erased_at: orNull(time("When it was erased."), "it is not erased."),
});

const TIMINGS = closed<Timings>("The duration of each phase. A reused connection has 0 for dns, connect and tls.", {
  dns: ms("The look-up of the name."),
  connect: ms("The TCP connection."),
  tls: ms("The TLS handshake."),
  first_byte: orNull(ms("From the beginning to the first byte of the answer."), "no byte came."),
  total: ms("The whole exchange."),
});

const NOT_ENDED = "it has not ended, or its end was not recorded.";

const ATTEMPT = closed<Attempt>("One request to the endpoint.", {
  number: count("1, 2, 3 …"),
  trigger: oneOf(["auto", "replay"], "auto: by the retry schedule; replay: because of a replay."),
  started_at: time("When it began."),
  outcome: oneOf(
    ["running", "succeeded", "failed", "unknown"],
    "unknown: the process ended before it recorded the outcome; another attempt followed.",
  ),
  duration_ms: orNull(ms("How long it took."), NOT_ENDED),
  status_code: orNull(status_code, "there was no answer, or it has not ended."),
  failure: orNull(failure("Why it failed."), "it did not fail."),
  timings_ms: orNull(TIMINGS, NOT_ENDED),
  next_attempt_at: orNull(time("The planned time of the next attempt."), "none was planned."),
});

const STAGE = closed<Stage>("One stage of the event.", {
  stage: oneOf(STAGES, "Which stage."),
  at: time("When."),
  number: optional(count("The attempt's number. Missing: the stage is no attempt.")),
  reason: optional(reason("Why people or the system ended it, or people replayed it. Missing: no reason was given.")),
  count: optional(count("How often this stage was repeated. Missing: it was not.")),
  last_at: optional(time("When it was last repeated; `at` is the first time. Missing: it was not.")),
});

export const REPLAYER = closed<Replayer>("Who requested the replay.", {
  kind: oneOf(["member", "key"], "A person, or a program with a key of the account."),
  id: text("The member's or the key's id, mem_… or key_…."),
});

const SAMPLE = closed<Sample>(
  "Who requested this sample, which counts for neither quota nor bill. Missing: it is none.",
  {
    by: REPLAYER,
  },
);

const REPLAY = closed<EventReplay>("One replay.", {
  id: text("The replay's id, rpl_…; a bulk replay is in replays.v1."),
  by: REPLAYER,
  reason: orNull(words("The reason."), "none was given."),
  at: time("When."),
});

const BUNDLE = closed<BundleStep>("The bundle's step that this event carries or undoes.", {
  id: text("The bundle's id, bun_…; bundles.v2 has it."),
  index: count("The step's index in it, from 0."),
  undo: flag("Whether it undoes the step."),
});

const EVENT = closed<EventDocument>("A webhook, or an agent's request, with its outcome.", {
  account: ACCOUNT,
  status: oneOf(
    EVENT_STATUSES,
    "recorded: admitted, without an endpoint to deliver to. held: it waits for an approval; rejected, expired, " +
      "cancelled: it was not approved, or was stopped.",
  ),
  origin: ORIGIN,
  origin_kind,
  origin_id,
  endpoint_id: orNull(text("The endpoint's id, end_…."), "the event is only recorded."),
  policy_id: optional(text("The policy that decided. Missing: there was none.")),
  run_id: optional(text("The agent's own id of the task. Missing: it gave none.")),
  type: text(
    "The provider's type, such as payment_intent.succeeded, or the name of the action that an agent requests; " +
      "empty without one.",
  ),
  sample: optional(SAMPLE),
  delivery_id: text("The sender's id for this delivery (an agent's Idempotency-Key), by which a repeat is recognised."),
  received_at: time("When its first request arrived."),
  payload: PAYLOAD,
  verdict: VERDICT,
  cost: orNull(
    {
      type: "integer",
      description:
        "The cost under its policy; of an agent's request that has ended, the actual cost. Micro-euros: 1,000,000 are " +
        "1 euro. Below zero: the refund of an undone step.",
    },
    "no cost could be, or had to be, determined.",
  ),
  approval_id: optional(text("The approval that it needs or needed, apr_…. Missing: none.")),
  bundle: optional(BUNDLE),
  decisions: count("The number of decisions: more than one if a blocked event was sent again."),
  duplicates: count("Repeats, which were answered but not delivered again."),
  reused: count("Refused requests with the same delivery id and another body."),
  trace_id: text("The W3C trace id of the last decided request, 32 hex characters."),
  failure: orNull(failure("Why the delivery failed."), "it has not failed."),
  stopped_at: optional(
    text(
      "The log position at which it was last refused or failed: opaque text. Missing: it was not, or is being replayed.",
    ),
  ),
  replayable: optional(
    oneOf(["failed", "blocked"], "The status by which a bulk replay can select it. Missing: none can."),
  ),
  replays: optional(list(REPLAY, "The last 50 replays, oldest first. Missing: none.")),
  attempts: list(ATTEMPT, "The attempts, oldest first; of more than 110, the first 10 and the last 100."),
  attempts_left_out: optional(count("The number of those left out. Missing: none.")),
  timeline: list(
    STAGE,
    "The event's stages; of several decisions the first and the last, of more than 110 stages the first 10 and the last 100.",
  ),
  stages_left_out: optional(count("The number of those left out. Missing: none.")),
});

const SEEN = closed<AccountFacets>("One for each account, under its id: the types and senders of its events.", {
  types: list({ type: "string" }, "The types of its events, sorted; 500 at most."),
  types_complete: flag("False if there were more types than are stored."),
  origins: list({ type: "string" }, "The ids of the senders, the newest last; 1,000 at most."),
});

export const eventsView: PublishedView = {
  view: "events.v3",
  description:
    "One document for every webhook that was authenticated and decided on, with its attempts and its timeline; " +
    "documents without a status list the types and senders of an account's events.",
  id: "The event's id, evt_…; in documents without a status, the account's id.",
  documents: [EVENT, SEEN],
};
