import type { Delivery } from "../../domain/delivery/decider.ts";
import type { PayloadEvent, Request } from "../../domain/delivery/events.ts";
import { type Outcome, outcome } from "../../domain/delivery/outcome.ts";
import { type DeliveryStatus, statusOf } from "../../domain/delivery/status.ts";
import { eurOf } from "../../domain/gate/cost.ts";
import type { EventLog, Json, JsonObject } from "../../domain/ports.ts";
import { approvalIdOf } from "../approvals.ts";
import { isFaithfulJson } from "../http/strict-json.ts";
import { decodeBody } from "../payloads.ts";
import { exchangesOf } from "../routes/event-shown.ts";
import type { Answer } from "../routes/route.ts";
import { readOn } from "../run-command.ts";

type Response = Extract<PayloadEvent, { type: "ResponseKept" }>["data"];

/** Of what is not on its way any more: the target's refusal is a bad gateway, a person's or the system's no is a conflict. */
const STATUS: Readonly<Record<DeliveryStatus, number>> = {
  delivered: 200,
  recorded: 200,
  held: 202,
  queued: 202,
  delivering: 202,
  retrying: 202,
  failed: 502,
  blocked: 409,
  rejected: 409,
  expired: 409,
  cancelled: 409,
};

/** The API's words for a delivery that is under way: an attempt that runs is the queue's affair, or that of a retry. */
const shownStatus = (state: Delivery): DeliveryStatus => {
  const status = statusOf(state);
  if (status !== "delivering") return status;
  return state.phase === "admitted" && state.attempts > 1 ? "retrying" : "queued";
};

export const hasEnded = (state: Delivery): boolean => STATUS[statusOf(state)] !== 202;

const IS_JSON = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Left as text where it would say something else afterwards, or could not be written again. */
const parsed = (text: string): Json => {
  try {
    // JSON.parse gives nothing but JSON.
    const value = JSON.parse(text) as Json;
    return isFaithfulJson(text) ? value : text;
  } catch {
    return text;
  }
};

/** JSON as what it says; else text, or base64 of what is no text. What was cut off is no JSON any more. */
const bodyOf = (kept: Response | undefined): JsonObject => {
  // Erased, or never kept.
  if (kept === undefined) return { body: null };
  if (kept.encoding === "base64") return { body: kept.body, encoding: "base64" };
  const text = decodeBody(kept).toString("utf8");
  if (kept.truncated) return { body: text, truncated: true };
  return { body: IS_JSON.test(kept.headers["content-type"] ?? "") ? parsed(text) : text };
};

/** What the target answered to the last attempt; null when there was no answer. */
const resultOf = async (log: EventLog, request: Request, { attempt }: Outcome): Promise<JsonObject | null> => {
  if (attempt === null || attempt.statusCode === null) return null;
  const { responses } = await exchangesOf(log, request.event_id, request.payload.revision);
  return { status_code: attempt.statusCode, ...bodyOf(responses.get(attempt.number)) };
};

/** How far an agent's request is, as `POST /v1/execute` and `GET /v1/executions/{id}` say it. */
export const executionAnswer = async (
  log: EventLog,
  account: string,
  eventId: string,
  state: Delivery,
): Promise<Answer & { readonly body: JsonObject }> => {
  const status = shownStatus(state);
  const request = "request" in state ? state.request : state.phase === "undecided" ? state.last : null;
  const verdict = request?.verdict ?? null;
  const spent = "spent" in state ? state.spent : undefined;
  const counted = "replay" in state ? (state.replay?.counted ?? 0) : 0;
  // Given back, it was for nothing.
  const own = spent === undefined ? (request?.cost ?? null) : (spent ?? 0);
  const cost = own === null ? null : own + counted;
  const about: JsonObject = {
    event_id: eventId,
    status,
    ...(verdict?.decision === "hold" ? { approval_id: approvalIdOf(account, eventId, request?.replay?.id) } : {}),
    // A verdict is plain JSON by its type.
    verdict: verdict as never,
    cost_eur: cost === null ? null : eurOf(cost),
  };
  const location = { location: `/v1/executions/${eventId}` };
  if (request === null || (status !== "delivered" && status !== "failed")) {
    return { status: STATUS[status], headers: location, body: about };
  }
  const { state: came } = await readOn(log, outcome, `delivery-${eventId}`, { state: outcome.initial, revision: null });
  const result = await resultOf(log, request, came);
  const failure: JsonObject | null = came.failure;
  return {
    status: STATUS[status],
    headers: location,
    body: { ...about, result, ...(status === "failed" ? { failure } : {}) },
  };
};
