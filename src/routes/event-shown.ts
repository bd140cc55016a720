import type { PayloadEvent } from "../../domain/delivery/events.ts";
import { eurOf } from "../../domain/gate/cost.ts";
import type { EventLog, Revision } from "../../domain/ports.ts";
import type { Attempt, EventDocument, Stage } from "../../projections/events.ts";
import { payloadStream } from "../payloads.ts";
import type { Hidden } from "./hidden-fields.ts";
import { redactText } from "./redact-text.ts";

type Kept<T extends PayloadEvent["type"]> = Extract<PayloadEvent, { type: T }>["data"];

/** What an erasure takes away: headers of the request, and what was sent and answered in each attempt. */
export type Exchanges = {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly responses: ReadonlyMap<number, Kept<"ResponseKept">>;
};

/** A record here may carry a megabyte, so few are held at once. */
const READ_PAGE = 20;

/** The newest attempts may be further than who asks knows, by so many. */
const MARGIN = READ_PAGE;

/**
 * Reads from the payload that was decided on; whatever a blocked sender sent before it is skipped. `wanted`: the numbers of
 * the first and the last attempts, or of the last alone: what was answered to those in the middle is not even read, as an
 * endpoint that is probed for ever, or an event that is replayed again and again, has no end of them.
 */
export const exchangesOf = async (
  log: EventLog,
  eventId: string,
  from: Revision,
  wanted: readonly number[],
): Promise<Exchanges> => {
  const stream = payloadStream(eventId);
  const shown = new Set(wanted);
  const responses = new Map<number, Kept<"ResponseKept">>();
  let headers: Exchanges["headers"] = null;
  let isBehindMiddle = false;
  for (let after: Revision | null = from === 0 ? null : from - 1; ; ) {
    const page = await log.read(stream, after, READ_PAGE);
    let isInMiddle = false;
    for (const recorded of page) {
      // `payload-evt_` streams hold PayloadEvents alone.
      const event = recorded as unknown as PayloadEvent;
      if (event.type === "PayloadKept") headers ??= event.data.headers;
      else if (event.type === "ResponseKept") {
        if (shown.has(event.data.number)) responses.set(event.data.number, event.data);
        else isInMiddle = true;
      }
      after = recorded.revision;
    }
    if (page.length < READ_PAGE) return { headers, responses };
    if (!isInMiddle || isBehindMiddle) continue;
    // Each attempt has one record at most: those of the last ones are among as many at the end.
    const last = await log.last(stream);
    after = Math.max(after ?? 0, (last?.revision ?? 0) - wanted.length - MARGIN);
    isBehindMiddle = true;
  }
};

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
    erased_at: event.payload.erased_at,
  },
  verdict: event.verdict,
  cost_eur: event.cost === null ? null : eurOf(event.cost),
  approval_id: event.approval_id ?? null,
  bundle: event.bundle ?? null,
  duplicates: event.duplicates,
  delivery_id_reused: event.reused,
  trace_id: event.trace_id,
  failure: event.failure,
  attempt_count: event.attempts.length + (event.attempts_left_out ?? 0),
});

/** Receivers repeat what they were sent, so what is hidden of a payload is hidden here; what is no JSON, as a whole. */
const responseShown = ({ headers, encoding, body, truncated }: Kept<"ResponseKept">, hidden: Hidden) => {
  if (hidden.length === 0 || body === "") return { headers, encoding, body, truncated, redacted: false };
  const shown = encoding === "text" ? redactText(body, hidden) : null;
  return { headers, encoding, body: shown, truncated, redacted: true };
};

const attemptShown = (attempt: Attempt, kept: Kept<"ResponseKept"> | undefined, hidden: Hidden) => ({
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
