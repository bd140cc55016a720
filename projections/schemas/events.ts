import type { BundleStep, PayloadHead, Replayer, Timings } from "../../domain/delivery/events.ts";
import type { Attempt, EventDocument, EventReplay, SeenInAccount, Stage } from "../events.ts";
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
import { ACCOUNT, failure } from "./words.ts";

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

const PAYLOAD = closed<EventDocument["payload"]>("What is known of the payload; the payload itself is in no view.", {
  revision: count("Which record of the stream payload-<event> holds it."),
  content_type: text("The media type that it came with."),
  size: count("Bytes."),
  sha256: text("Hex SHA-256 over its salt and its bytes. The salt is kept beside the payload, and erased with it."),
  head: optional(
    closed<PayloadHead>("Only the beginning is stored. Missing: the whole payload is.", {
      size: count("Bytes that are stored."),
      sha256: text("Hex SHA-256 over the same salt and these bytes."),
    }),
  ),
  erased_at: orNull(time("When it was erased."), "it is kept."),
});

const TIMINGS = closed<Timings>("Where the time went. A reused connection has 0 for dns, connect and tls.", {
  dns: ms("The look-up of the name."),
  connect: ms("The TCP connection."),
  tls: ms("The TLS handshake."),
  first_byte: orNull(ms("From the beginning to the first byte of the answer."), "no byte came."),
  total: ms("The whole exchange."),
});

const NOT_ENDED = "it has not ended, or nobody recorded its end.";

const ATTEMPT = closed<Attempt>("One request to the endpoint.", {
  number: count("1, 2, 3 …"),
  trigger: oneOf(["auto", "replay"], "What it was made for."),
  started_at: time("When it began."),
  outcome: oneOf(
    ["running", "succeeded", "failed", "unknown"],
    "unknown: it began and nobody recorded its end, as the process was gone. It was then made again.",
  ),
  duration_ms: orNull(ms("How long it took."), NOT_ENDED),
  status_code: orNull(status_code, "there was no answer, or it has not ended."),
  failure: orNull(failure("Why it failed."), "it did not fail."),
  timings_ms: orNull(TIMINGS, NOT_ENDED),
  next_attempt_at: orNull(time("When the next attempt was planned for."), "none was."),
});

const STAGE = closed<Stage>("One step.", {
  stage: oneOf(STAGES, "Which step."),
  at: time("When."),
  number: optional(count("The attempt's number. Missing: it is no attempt.")),
  reason: optional(text("Why people or the system ended it, or people had it sent again. Missing: nobody said.")),
  count: optional(count("How often it was sent again. Missing: it is something else.")),
  last_at: optional(time("When it was last sent again; `at` is the first time. Missing: it is something else.")),
});

export const REPLAYER = closed<Replayer>("Who wanted it.", {
  kind: oneOf(["member", "key"], "A person, or a program with a key of the account."),
  id: text("Whose it is, mem_… or key_…."),
});

const REPLAY = closed<EventReplay>("Once more.", {
  id: text("The replay, rpl_…; of many events at once replays.v1 has it."),
  by: REPLAYER,
  reason: orNull(text("Why."), "nobody said."),
  at: time("When."),
});

const BUNDLE = closed<BundleStep>("The step of a bundle that it carries or takes back.", {
  id: text("The bundle's id, bun_…; bundles.v1 has it."),
  index: count("The step's place in it: 0, 1, 2 …"),
  undo: flag("Whether it takes the step back."),
});

const EVENT = closed<EventDocument>("A webhook and what became of it.", {
  account: ACCOUNT,
  status: oneOf(
    EVENT_STATUSES,
    "How it stands. recorded: admitted, and its source has no endpoint. held: people have to approve it; rejected, " +
      "expired and cancelled: they did not, or it was stopped.",
  ),
  origin: ORIGIN,
  origin_kind,
  origin_id,
  endpoint_id: orNull(text("Where it is to be delivered, end_…."), "nowhere: it is recorded only."),
  type: text(
    "The provider's name for what happened, such as payment_intent.succeeded, or that of the action that an agent asks for; " +
      "empty where it has none.",
  ),
  delivery_id: text(
    "The sender's name for this delivery, of an agent its Idempotency-Key: by it a repeat is recognised.",
  ),
  received_at: time("When the first request of it came."),
  payload: PAYLOAD,
  verdict: VERDICT,
  cost: orNull(
    {
      type: "integer",
      description:
        "What it costs under its policy, and of an agent's request that has ended what it has cost, in micro-euros: 1,000,000 " +
        "are 1 euro. Below zero: what the undo of a bundle's step has given back.",
    },
    "no cost could be, or had to be, determined.",
  ),
  approval_id: optional(text("The approval that it waits or waited for, apr_…. Missing: none was needed.")),
  bundle: optional(BUNDLE),
  decisions: count("How often it was decided on: more than once when a blocked event was sent again."),
  duplicates: count("Repeats that were answered and not delivered again."),
  reused: count("Requests with its delivery id and another body, refused."),
  trace_id: text("The W3C trace id of the request that was decided on last, 32 hex characters."),
  failure: orNull(failure("Why it failed in the end."), "it has not failed."),
  stopped_at: optional(
    text("Where in the log it was refused or failed last: opaque text. Missing: it was not, or is replayed."),
  ),
  replayable: optional(
    oneOf(["failed", "blocked"], "As the status, where a replay of many may take it. Missing: none can."),
  ),
  replays: optional(list(REPLAY, "Each replay, oldest first, the last 50. Missing: there was none.")),
  attempts: list(ATTEMPT, "The attempts, oldest first: of more than 110 the first 10 and the last 100."),
  attempts_left_out: optional(count("How many came between those. Missing: none.")),
  timeline: list(
    STAGE,
    "What happened when; of several decisions the first and the last; of more than 110 stages the first 10 and the last 100.",
  ),
  stages_left_out: optional(count("How many came between those. Missing: none.")),
});

const SEEN = closed<SeenInAccount>("One an account, under the account's id: what its events have in common.", {
  types: list({ type: "string" }, "The types that were seen, sorted; 500 at most."),
  types_complete: flag("False when there were more types than are kept."),
  origins: list({ type: "string" }, "The ids of the senders seen, the newest last; 1,000 at most."),
});

export const eventsView: PublishedView = {
  view: "events.v2",
  description:
    "One document for every webhook that was authenticated and decided on, with its attempts and its timeline; " +
    "documents without a status say what an account's events have in common.",
  id: "The event's id, evt_…; of the few without a status the account's id.",
  documents: [EVENT, SEEN],
};
