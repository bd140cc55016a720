import { eurOrNull } from "../../domain/gate/cost.ts";
import type { Attempt, EventDocument, Stage } from "../../projections/events.ts";
import type { Exchanges, ResponseKept } from "../exchanges.ts";
import type { Hidden } from "./hidden-fields.ts";
import { redactText } from "./redact-text.ts";

/** The list's shape of an event; the detail adds to it. */
export const eventSummary = (id: string, event: EventDocument) => ({
  id,
  origin: event.origin,
  type: event.type,
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
  bundle: event.bundle ?? null,
  duplicates: event.duplicates,
  delivery_id_reused: event.reused,
  trace_id: event.trace_id,
  failure: event.failure,
  attempt_count: event.attempts.length + (event.attempts_left_out ?? 0),
});

/** Receivers repeat what they were sent, so what is hidden of a payload is hidden here; what is no JSON, as a whole. */
const responseShown = ({ headers, encoding, body, truncated }: ResponseKept, hidden: Hidden) => {
  if (hidden.length === 0 || body === "") return { headers, encoding, body, truncated, redacted: false };
  const shown = encoding === "text" ? redactText(body, hidden) : null;
  return { headers, encoding, body: shown, truncated, redacted: true };
};

const attemptShown = (attempt: Attempt, kept: ResponseKept | undefined, hidden: Hidden) => ({
  ...attempt,
  request: kept === undefined ? null : { headers: kept.request_headers },
  response: kept === undefined || attempt.status_code === null ? null : responseShown(kept, hidden),
});

/** `hidden`: as `hiddenOfEvent` says. */
export const attemptsShown = (event: EventDocument, { responses }: Exchanges, hidden: Hidden) =>
  event.attempts.map((attempt) => attemptShown(attempt, responses.get(attempt.number), hidden));

/** The attempt that a stage is about, as far as the timeline tells. */
const attemptIn = ({ attempts }: EventDocument, { number }: Stage) => {
  const attempt = attempts.find((it) => it.number === number);
  if (number === undefined || attempt === undefined) return {};
  const { outcome, duration_ms, status_code } = attempt;
  return { outcome, duration_ms, status_code };
};

/** Who wanted it, of a stage that is a replay: each has a time of its own, as it had to fail or be blocked in between. */
const replayerIn = ({ replays = [] }: EventDocument, { stage, at }: Stage) => {
  const replay = stage === "replayed" ? replays.find((it) => it.at === at) : undefined;
  return replay === undefined ? {} : { by: replay.by };
};

/** Every stage with the milliseconds since the one before. Clocks of several nodes differ: no gap is below zero. */
export const timelineShown = (event: EventDocument) =>
  event.timeline.map((stage, index) => {
    const before = event.timeline[index - 1] ?? stage;
    const ms = Math.max(0, Date.parse(stage.at) - Date.parse(before.at));
    return { ...stage, ms, ...attemptIn(event, stage), ...replayerIn(event, stage) };
  });

export const eventDetail = (id: string, event: EventDocument, exchanges: Exchanges, hidden: Hidden) => ({
  ...eventSummary(id, event),
  headers: exchanges.headers,
  attempts: attemptsShown(event, exchanges, hidden),
  attempts_left_out: event.attempts_left_out ?? 0,
  replays: event.replays ?? [],
  timeline: timelineShown(event),
  stages_left_out: event.stages_left_out ?? 0,
});
