import { iso } from "../../domain/calendar.ts";
import { defined } from "../../domain/defined.ts";
import type { AttemptEnd, Failure } from "../../domain/delivery/attempt-end.ts";
import type { CommandOf } from "../../domain/delivery/commands.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { failureOf } from "../../domain/delivery/failure-of.ts";
import { isGone } from "../../domain/delivery/gone.ts";
import { attemptOfSchedule } from "../../domain/delivery/replay.ts";
import { nextAttemptAt } from "../../domain/delivery/retry.ts";
import type { ActiveDelivery } from "../../domain/delivery/state.ts";
import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import { reportedCost } from "../../domain/gate/cost.ts";
import type { SendOutcome } from "../../domain/ports/sender.ts";
import type { Job } from "./job.ts";

/** Times are in ms since 1970; `retryAt` is null if the receiver did not ask for a time. */
export type AttemptResult = {
  readonly startedAt: number;
  readonly at: number;
  readonly succeeded: boolean;
  readonly statusCode: number | null;
  readonly retryAt: number | null;
};

export type EndAttempt = CommandOf<"Succeed"> | CommandOf<"Fail">;

const COST_HEADER = "countersign-cost-eur";
/** Statuses whose `Retry-After` is followed: RFC 6585, section 4, and RFC 9110, section 15.6.4. */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

/** The cause goes to the operator's log only, because it may name a sealed value. */
export const REQUEST_NOT_MADE: SendOutcome = {
  outcome: "failed",
  kind: "connect",
  detail: "The request could not be made: the endpoint's secret or one of its headers cannot be opened",
  timings: { dns: 0, connect: 0, tls: 0, first_byte: null, total: 0 },
};

export const ENDPOINT_DELETED: Failure = {
  kind: "endpoint-deleted",
  detail: "The endpoint was deleted before the event was delivered",
};
export const PAYLOAD_DAMAGED: Failure = {
  kind: "payload-damaged",
  detail:
    "The stored payload does not match the hash in the event's record, so it was not sent: restore it from a backup, then replay the event",
};
export const TARGET_CHANGED: Failure = {
  kind: "target-changed",
  detail:
    "The URL or the headers of the endpoint were changed after people had approved of the bundle, so nothing was sent",
};
export const PAYLOAD_ERASED: Failure = {
  kind: "payload-erased",
  detail: "The payload was erased before the event was delivered",
};

export const resultOf = (sent: SendOutcome, startedAt: number, at: number): AttemptResult => {
  const statusCode = sent.statusCode ?? null;
  const isAsked = sent.outcome === "answered" && sent.retryAfterMs !== null && ASKS_TO_WAIT.has(sent.statusCode);
  const retryAt = isAsked && sent.retryAfterMs !== null ? at + sent.retryAfterMs : null;
  return { startedAt, at, succeeded: failureOf(sent) === null, statusCode, retryAt };
};

/** The receiver's report in micro-euros; null if it is invalid, undefined without one. An undo's may be negative. */
const costReported = (sent: SendOutcome, { origin, bundle }: Request): number | null | undefined => {
  const reported = sent.outcome === "answered" ? sent.headers[COST_HEADER] : undefined;
  return origin.kind !== "agent" || reported === undefined ? undefined : reportedCost(reported, bundle?.undo === true);
};

export type SentRequest = {
  readonly job: Job;
  readonly state: ActiveDelivery;
  readonly endpoint: PresentEndpoint;
  readonly isFormerTarget: boolean;
  readonly sent: SendOutcome;
  readonly result: AttemptResult;
};

/** The next try in ms since 1970; null: none. A failed probe waits for the next one, unless its schedule has ended. */
const retryAfter = ({ job, state, endpoint: { settings, circuit }, result }: SentRequest, random: number) => {
  const { at, retryAt } = result;
  const nth = attemptOfSchedule(state);
  const isLast = job.kind === "probe" && job.isCounted && nth > settings.retry_schedule_s.length;
  if (circuit.state === "open" && !isLast) return Math.max(Date.parse(circuit.nextProbeAt), retryAt ?? 0, at);
  const failed = { number: nth, atMs: at, retryAfterMs: retryAt === null ? null : retryAt - at };
  return nextAttemptAt(settings.retry_schedule_s, failed, random);
};

export const endCommand = (request: SentRequest, random: () => number): EndAttempt => {
  const { job, state, isFormerTarget, sent, result } = request;
  const { at, startedAt, statusCode: status } = result;
  const attempt: AttemptEnd = defined({
    event_id: job.eventId,
    endpoint_id: job.endpointId,
    number: state.attempts,
    at: iso(at),
    duration_ms: Math.max(0, Math.round(at - startedAt)),
    status_code: status,
    timings_ms: sent.timings,
    resent: sent.resent,
    unsent: sent.outcome === "answered" ? undefined : sent.unsent,
    elsewhere: isFormerTarget ? (true as const) : undefined,
    cost_reported: costReported(sent, state.request),
  });
  const failure = failureOf(sent);
  if (failure === null) return { type: "Succeed", end: { ...attempt, status_code: status ?? 200 } };
  const retryable = !isGone(status);
  const next = retryable ? retryAfter(request, random()) : null;
  return { type: "Fail", end: attempt, failure, retryable, nextAttemptAt: next === null ? null : iso(next) };
};
