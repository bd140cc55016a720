import type { StepResult } from "../../domain/bundle/results.ts";
import { type Outcome, outcome } from "../../domain/delivery/outcome.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { EventLog, Revision } from "../../domain/ports/event-log.ts";
import { exchangesOf, type ResponseKept } from "../streams/exchanges.ts";
import { decodeBody } from "../streams/payload-encoding.ts";
import { foldStream } from "../streams/run-command.ts";
import { isFaithfulJson } from "../streams/strict-json.ts";

export type Result = JsonObject & { readonly status_code: number; readonly body: Json };

const IS_JSON = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Returns the text itself if parsing would change its value, or if the value could not be written as JSON again. */
const parsed = (text: string): Json => {
  try {
    const value = JSON.parse(text) as Json; // JSON.parse returns nothing else.
    return isFaithfulJson(text) ? value : text;
  } catch {
    return text;
  }
};

/** The body is a JSON value, or else text, or base64 if it is not text. Truncated text is not parsed. */
const bodyOf = (kept: ResponseKept | undefined): JsonObject & { readonly body: Json } => {
  if (kept === undefined) return { body: null };
  if (kept.encoding === "base64") return { body: kept.body, encoding: "base64" };
  const text = decodeBody(kept).toString("utf8");
  if (kept.truncated) return { body: text, truncated: true };
  return { body: IS_JSON.test(kept.headers["content-type"] ?? "") ? parsed(text) : text };
};

export const outcomeOf = async (log: EventLog, eventId: string): Promise<Outcome> =>
  (await foldStream(log, outcome, `delivery-${eventId}`)).state;

const responseOf = async (
  log: EventLog,
  eventId: string,
  from: Revision,
  { attempt }: Outcome,
): Promise<ResponseKept | undefined> =>
  attempt === null || attempt.statusCode === null
    ? undefined
    : (await exchangesOf(log, eventId, from, [attempt.number])).responses.get(attempt.number);

/** Null if the last attempt had no answer. `from` is the revision of the decided payload in the payload's stream. */
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

export const answeredBody = async (log: EventLog, eventId: string, from: Revision): Promise<StepResult> => {
  const response = await responseOf(log, eventId, from, await outcomeOf(log, eventId));
  if (response === undefined) return { missing: "has no answer" };
  if (response.encoding === "base64") return { missing: "has an answer that is no text" };
  if (response.truncated) return { missing: "has an answer that is too long, and was cut off" };
  return { body: bodyOf(response).body };
};
