import type { Usable } from "../../domain/bundle/results.ts";
import { type Outcome, outcome } from "../../domain/delivery/outcome.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { exchangesOf, type ResponseKept } from "../streams/exchanges.ts";
import { decodeBody } from "../streams/payloads.ts";
import { foldStream } from "../streams/run-command.ts";
import { isFaithfulJson } from "../streams/strict-json.ts";

/** What the target answered: `body` is what the answer says where it is JSON, else text. */
export type Result = JsonObject & { readonly status_code: number; readonly body: Json };

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
const bodyOf = (kept: ResponseKept | undefined): JsonObject & { readonly body: Json } => {
  // Erased, or never kept.
  if (kept === undefined) return { body: null };
  if (kept.encoding === "base64") return { body: kept.body, encoding: "base64" };
  const text = decodeBody(kept).toString("utf8");
  if (kept.truncated) return { body: text, truncated: true };
  return { body: IS_JSON.test(kept.headers["content-type"] ?? "") ? parsed(text) : text };
};

/** What the receiver's side of a delivery came to, as its stream has it now. */
export const outcomeOf = async (log: EventLog, eventId: string): Promise<Outcome> =>
  (await foldStream(log, outcome, `delivery-${eventId}`)).state;

/** Of the last attempt; undefined when there was no answer, or it was erased. */
const responseOf = async (
  log: EventLog,
  eventId: string,
  from: Revision,
  { attempt }: Outcome,
): Promise<ResponseKept | undefined> =>
  attempt === null || attempt.statusCode === null
    ? undefined
    : (await exchangesOf(log, eventId, from, [attempt.number])).responses.get(attempt.number);

/** What the target answered to the last attempt; null when there was no answer. `from`: the payload that was decided on. */
export const resultOf = async (
  log: EventLog,
  eventId: string,
  from: Revision,
  outcome: Outcome,
): Promise<Result | null> => {
  const statusCode = outcome.attempt?.statusCode ?? null;
  if (statusCode === null) return null;
  return { status_code: statusCode, ...bodyOf(await responseOf(log, eventId, from, outcome)) };
};

/** The body of `resultOf` where that is all that was answered, and text or JSON. */
export const answeredBody = async (log: EventLog, eventId: string, from: Revision): Promise<Usable> => {
  const response = await responseOf(log, eventId, from, await outcomeOf(log, eventId));
  if (response === undefined) return { missing: "has no answer" };
  if (response.encoding === "base64") return { missing: "has an answer that is no text" };
  if (response.truncated) return { missing: "has an answer that is too long, and was cut off" };
  return { body: bodyOf(response).body };
};
