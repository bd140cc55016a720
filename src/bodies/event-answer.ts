import { defined } from "../../domain/defined.ts";
import { eurOrNull } from "../../domain/gate/cost.ts";
import { REDACTED } from "../../domain/gate/redact.ts";
import type { Reason } from "../../domain/personal/words.ts";
import type { Attempt, EventDocument, Stage } from "../../projections/event-document.ts";
import type { Shown } from "../erasure/shown-words.ts";
import {
  type AnswerRedaction,
  answerRedaction,
  type RedactionSource,
  searchLimit,
} from "../redaction/answer-redaction.ts";
import { redactText } from "../redaction/redact-text.ts";
import type { Exchanges, ResponseKept } from "../streams/exchanges.ts";

const ENDED_UNSENT: readonly string[] = ["rejected", "expired", "cancelled"];

/** Why people or the service ended it before it was sent; null for what has not ended so, and if no reason was given. */
const endReason = ({ status, timeline }: EventDocument): Reason | null => {
  if (!ENDED_UNSENT.includes(status)) return null;
  return timeline.findLast(({ stage }) => stage === status)?.reason || null;
};

export const eventSummary = (id: string, event: EventDocument) => ({
  id,
  origin: event.origin,
  type: event.type,
  sample: event.sample !== undefined,
  status: event.status,
  received_at: event.received_at,
  endpoint_id: event.endpoint_id,
  delivery_id: event.delivery_id,
  payload: {
    content_type: event.payload.content_type,
    size: event.payload.size,
    sha256: event.payload.sha256,
    kept: event.payload.head === undefined ? "whole" : "head",
    erased_at: event.payload.erased_at,
  },
  verdict: event.verdict,
  cost_eur: eurOrNull(event.cost),
  approval_id: event.approval_id ?? null,
  run: event.run_id ?? null,
  bundle: event.bundle ?? null,
  duplicates: event.duplicates,
  delivery_id_reused: event.reused,
  trace_id: event.trace_id,
  failure: event.failure,
  end_reason: endReason(event),
  attempt_count: event.attempts.length + (event.attempts_left_out ?? 0),
});

/** The item of `GET /v1/events`. */
export type EventSummary = Shown<ReturnType<typeof eventSummary>>;

/** A header with such a name may hold a digest of the body, from which a short hidden field could be guessed. */
const DIGEST_NAME = /digest|md5|sha-?\d|hash|checksum|crc|etag/;

export const visibleRequestHeaders = (headers: Readonly<Record<string, string>>, isHiding: boolean) =>
  !isHiding
    ? headers
    : Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, DIGEST_NAME.test(name) ? REDACTED : value]),
      );

const visibleResponseHeaders = (headers: ResponseKept["headers"], { echo }: AnswerRedaction) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const isHidden = echo === null || DIGEST_NAME.test(name) || echo.hidesName(name) || echo.hides(value);
      return [echo?.hides(name) === true ? REDACTED : name, isHidden ? REDACTED : value];
    }),
  );

/** A receiver may repeat what it was sent, so the fields that are hidden in the payload are hidden in its response. */
const visibleResponse = (
  { headers, encoding, body, truncated, head }: ResponseKept,
  hidden: AnswerRedaction | null,
) => {
  const kept = head === undefined ? "whole" : "head";
  if (hidden === null) {
    return { headers, encoding, body, truncated, kept, sha256: head?.sha256 ?? null, redacted: false };
  }
  const { paths, echo } = hidden;
  const shown = body === "" ? body : encoding === "text" && echo !== null ? redactText(body, paths, echo) : null;
  const named = visibleResponseHeaders(headers, hidden);
  const redacted = body !== "" || Object.entries(named).flat().includes(REDACTED);
  // A hash of hidden content would let a reader test guesses.
  return { headers: named, encoding, body: shown, truncated, kept, sha256: null, redacted };
};

const visibleAttempt = (attempt: Attempt, kept: ResponseKept | undefined, hidden: AnswerRedaction | null) => ({
  ...attempt,
  request: kept === undefined ? null : { headers: visibleRequestHeaders(kept.request_headers, hidden !== null) },
  response: kept === undefined || attempt.status_code === null ? null : visibleResponse(kept, hidden),
});

const lengthOf = ({ headers, body }: ResponseKept): number => body.length + JSON.stringify(headers).length;

export type AttemptsOrder = {
  readonly attempts: readonly Attempt[];
  readonly responses: Exchanges["responses"];
  readonly hiding: RedactionSource | null;
};

export type VisibleAttempt = ReturnType<typeof visibleAttempt>;

/** The responses share a limit on the text that is searched, beyond which they are hidden, so the newest come first. */
export const visibleAttempts = ({ attempts, responses, hiding }: AttemptsOrder): readonly VisibleAttempt[] => {
  const hidden = answerRedaction(hiding);
  const limited = searchLimit();
  return attempts
    .toReversed()
    .map((attempt) => {
      const kept = responses.get(attempt.number);
      return visibleAttempt(attempt, kept, kept === undefined ? hidden : limited(hidden, lengthOf(kept)));
    })
    .reverse();
};

const attemptIn = ({ attempts }: EventDocument, { number }: Stage) => {
  const attempt = attempts.find((it) => it.number === number);
  if (number === undefined || attempt === undefined) return {};
  const { outcome, duration_ms, status_code } = attempt;
  return { outcome, duration_ms, status_code };
};

/** The time identifies the replay: the event fails or is blocked between two replays, so they have different times. */
const replayerIn = ({ replays = [] }: EventDocument, { stage, at }: Stage) => {
  const replay = stage === "replayed" ? replays.find((it) => it.at === at) : undefined;
  return defined({ by: replay?.by });
};

/** `ms` is the time since the previous stage; 0 where the different clocks of two nodes would make it negative. */
export const timelineWithGaps = (event: EventDocument) =>
  event.timeline.map((stage, index) => {
    const before = event.timeline[index - 1] ?? stage;
    const ms = Math.max(0, Date.parse(stage.at) - Date.parse(before.at));
    return { ...stage, ms, ...attemptIn(event, stage), ...replayerIn(event, stage) };
  });

export const eventDetail = (
  id: string,
  event: EventDocument,
  headers: Exchanges["headers"],
  attempts: readonly VisibleAttempt[],
) => ({
  ...eventSummary(id, event),
  headers,
  attempts,
  attempts_left_out: event.attempts_left_out ?? 0,
  replays: event.replays ?? [],
  timeline: timelineWithGaps(event),
  stages_left_out: event.stages_left_out ?? 0,
});

/** The body of `GET /v1/events/{id}`. */
export type EventDetail = Shown<ReturnType<typeof eventDetail>>;
