import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { AttemptEnd, Failure, Request } from "../../domain/delivery/events.ts";
import { failureOf } from "../../domain/delivery/failure-of.ts";
import { attemptOfSchedule, replayIdOf, triggerOf } from "../../domain/delivery/replay.ts";
import { nextAttemptAt } from "../../domain/delivery/retry.ts";
import { type ActiveDelivery, type Delivery, isActive, isAdmitted } from "../../domain/delivery/state.ts";
import { type Endpoint, endpoint as endpointDecider, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../domain/endpoint/events.ts";
import { sameTarget, type Target, targetOf } from "../../domain/endpoint/target.ts";
import { reportedCost } from "../../domain/gate/cost.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { CLOCKS_APART_MS_MAX } from "../../infra/eventstoredb/clock-check.ts";
import { stoppedBecause } from "../accounts/stopped.ts";
import { holdingAgain } from "../approvals/holding-again.ts";
import { systemTimers, type Timers } from "../following/timers.ts";
import type { Attempted } from "../observing/observer.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { systemEnvelope, type Trace } from "../streams/envelope.ts";
import type { Payloads } from "../streams/payloads.ts";
import { type Foldable, foldStream, runCommand, type StreamState } from "../streams/run-command.ts";
import { type KeepingResponsesDeps, keepingResponses } from "./kept-responses.ts";
import type { Job } from "./lanes.ts";
import type { Outbound } from "./outbound.ts";

/** A delivery handed over by the admission, with what is known of it already: nothing has to be read again. */
export type Offered = Job & {
  /** Also before its schedule says so: as the probe of an open circuit, or in its turn behind an outage. */
  readonly early?: "probe" | "turn";
  /** A bundle's step: it is tried once whatever the health of its endpoint. What is cancelled needs only to be looked at. */
  readonly takesBack?: true;
  /** A probe that its schedule counts all the same: since the event failed, another one got through. */
  readonly isCounted?: true;
  readonly trace?: Trace;
  readonly known?: StreamState<Delivery>;
  readonly body?: Buffer;
  readonly contentType?: string;
  readonly contentEncoding?: string;
};

export type AttemptDeps = KeepingResponsesDeps & {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  /** Those of the process unless given. */
  readonly timers?: Timers;
  readonly randomness: Randomness;
  readonly payloads: Payloads;
  readonly sender: HttpSender;
  readonly outbound: Outbound;
  /** This process, and whether every other one that held a lease is known to be gone. */
  readonly node: string;
  readonly othersAreGone: boolean;
  /** Told of each attempt that has ended. */
  readonly onAttempt?: (attempt: Attempted) => void;
  readonly onError: (error: unknown) => void;
  /** Told of an endpoint as it is now, before anything is sent to it. False: the job waits on disk. */
  readonly onEndpoint: (job: Offered, state: Endpoint) => boolean;
  /** Told of what came of an attempt, which is written down meanwhile. */
  readonly onAnswered: (job: Offered, answered: Answered, trace: Trace) => Promise<void>;
  /** Told of a delivery as it is in the log now. */
  readonly onWritten: (job: Offered, known: StreamState<Delivery>) => void;
};

/** Times in ms since 1970; `retryAt` is what the receiver asked for. */
export type Answered = {
  readonly startedAt: number;
  readonly at: number;
  readonly succeeded: boolean;
  /** Which of its event's schedule, 1-based; of a probe the one before it. */
  readonly nth: number;
  readonly statusCode: number | null;
  readonly retryAt: number | null;
};

export type Attempts = {
  /**
   * Takes the lease and sends: everything up to the answer of the receiver. What is left, writing down what came of it,
   * is the caller's to run; null when there was nothing to send. Rejects with the log's errors.
   */
  begin(job: Offered): Promise<(() => Promise<void>) | null>;
};

/** A lease outlives its request by this, so that the outcome can be recorded even when the log is slow. */
const LEASE_MARGIN_MS = 15_000;
/** How often recording an outcome is tried: afterwards the lease runs out and the event is sent again under its id. */
const RECORD_ATTEMPTS_MAX = 4;
const RECORD_BACKOFF_MS = 500;
/** In which the receiver of an agent's request says what it has cost. */
const COST_HEADER = "countersign-cost-eur";

/** An endpoint as far as its stream was read, and the last state in which it had the target that is looked for. */
type PresentEndpointSeen = { readonly state: Endpoint; readonly last: PresentEndpoint | null };
/** `isElsewhere`: the endpoint is as an approval recorded it, and has another target by now. */
type Destination = { readonly endpoint: PresentEndpoint; readonly isElsewhere: boolean };
/** What is written down of an attempt. */
type Ended = Extract<DeliveryCommand, { type: "Succeed" | "Fail" }>;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Whose Retry-After is kept (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

const answerOf = (sent: SendOutcome, nth: number, startedAt: number, at: number): Answered => {
  const statusCode = sent.statusCode ?? null;
  const isAsked = sent.outcome === "answered" && sent.retryAfterMs !== null && ASKS_TO_WAIT.has(sent.statusCode);
  const retryAt = isAsked && sent.retryAfterMs !== null ? at + sent.retryAfterMs : null;
  return { startedAt, at, succeeded: failureOf(sent) === null, nth, statusCode, retryAt };
};

/** What takes a bundle's step back may give back what that has cost. */
const costReported = (sent: SendOutcome, { bundle }: Request): Pick<AttemptEnd, "cost_reported"> => {
  const said = sent.outcome === "answered" ? sent.headers[COST_HEADER] : undefined;
  return said === undefined ? {} : { cost_reported: reportedCost(said, bundle?.undo === true) };
};

/** Nothing has left this machine. The cause is told to whoever runs it, as it may name what is sealed. */
const UNMADE: SendOutcome = {
  outcome: "failed",
  kind: "connect",
  detail: "The request could not be made: the endpoint's secret or one of its headers cannot be opened",
  timings: { dns: 0, connect: 0, tls: 0, first_byte: null, total: 0 },
};

const DELETED: Failure = {
  kind: "endpoint-deleted",
  detail: "The endpoint was deleted before the event was delivered",
};
const DAMAGED: Failure = {
  kind: "payload-damaged",
  detail:
    "The stored payload does not match the hash in the event's record, so it was not sent: restore it from a backup, then replay the event",
};
const RETARGETED: Failure = {
  kind: "target-changed",
  detail:
    "The URL or the headers of the endpoint were changed after people had approved of the bundle, so nothing was sent",
};
const ERASED: Failure = { kind: "payload-erased", detail: "The payload was erased before the event was delivered" };

/** The endpoint as it was when it had this target; null where its stream has no such state. */
const endpointWith = async (log: EventLog, target: Target): Promise<PresentEndpoint | null> => {
  const found: Foldable<PresentEndpointSeen, EndpointEvent> = {
    initial: { state: endpointDecider.initial, last: null },
    evolve({ state: before, last }, event) {
      const state = endpointDecider.evolve(before, event);
      return { state, last: state.phase === "present" && sameTarget(targetOf(state), target) ? state : last };
    },
  };
  const stream = `endpoint-${target.endpoint_id}`;
  return (await foldStream(log, found, stream)).state.last;
};

/** One attempt of one delivery: lease, request, outcome, each written with the revision that the one before it made. */
export const attempts = (deps: AttemptDeps): Attempts => {
  const { log, aggregates, clock, timers = systemTimers, randomness, node } = deps;
  const keepResponse = keepingResponses(deps);
  const again = holdingAgain({ log, aggregates, clock, randomness });

  const envelope = (account: string, trace: Trace) =>
    systemEnvelope({
      actor: "deliverer",
      commandId: randomId("cmd_", randomness),
      account,
      trace,
      at: iso(clock.now()),
    });

  const run = (job: Offered, command: DeliveryCommand, known: StreamState<Delivery>, trace: Trace) =>
    runCommand(log, {
      decider: delivery,
      stream: `delivery-${job.eventId}`,
      from: known,
      command,
      envelope: envelope(job.account, trace),
    });

  /** What came of an attempt matters more than any other append, so a log that is away for a moment is waited for. */
  const persistently = async <T>(write: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write();
      } catch (error) {
        if (attempt >= RECORD_ATTEMPTS_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, RECORD_BACKOFF_MS * attempt));
      }
    }
  };

  const record = (job: Offered, command: DeliveryCommand, known: StreamState<Delivery>, trace: Trace) =>
    persistently(async () => {
      const ran = await run(job, command, known, trace);
      deps.onWritten(job, ran.known);
      return ran;
    });

  /** An event that failed as a probe waits for the next one, whatever its schedule says, unless that has come to its end. */
  const nextAfter = (
    { isCounted }: Offered,
    { settings, circuit }: PresentEndpoint,
    { nth, at, retryAt }: Answered,
  ): number | null => {
    const isLast = isCounted === true && nth > settings.retry_schedule_s.length;
    if (circuit.state === "open" && !isLast) return Math.max(Date.parse(circuit.nextProbeAt), retryAt ?? 0, at);
    const wait = retryAt === null ? null : retryAt - at;
    return nextAttemptAt(settings.retry_schedule_s, nth, at, randomness.number(), wait);
  };

  const outcome = (
    job: Offered,
    { endpoint, isElsewhere }: Destination,
    state: ActiveDelivery,
    sent: SendOutcome,
    answered: Answered,
  ): Ended => {
    const { at, startedAt, statusCode: status } = answered;
    const attempt: AttemptEnd = {
      event_id: job.eventId,
      endpoint_id: job.endpointId,
      number: state.attempts,
      at: iso(at),
      duration_ms: Math.max(0, Math.round(at - startedAt)),
      status_code: status,
      timings_ms: sent.timings,
      ...(sent.resent === undefined ? {} : { resent: sent.resent }),
      ...(sent.outcome === "answered" || sent.unsent === undefined ? {} : { unsent: sent.unsent }),
      ...(isElsewhere ? { elsewhere: true as const } : {}),
      ...(state.request.origin.kind === "agent" ? costReported(sent, state.request) : {}),
    };
    const failure = failureOf(sent);
    if (failure === null) return { type: "Succeed", end: { ...attempt, status_code: status ?? 200 } };
    // Gone (RFC 9110, section 15.5.11): the receiver asks not to be called again.
    const retryable = status !== 410;
    const next = retryable ? nextAfter(job, endpoint, answered) : null;
    return { type: "Fail", end: attempt, failure, retryable, nextAttemptAt: next === null ? null : iso(next) };
  };

  const tell = ({ eventId: event_id, endpointId: endpoint_id }: Offered, ended: Ended, { trace_id }: Trace): void => {
    const { number, status_code, duration_ms: ms } = ended.end;
    const outcome = ended.type === "Succeed" ? "succeeded" : ended.failure.kind;
    deps.onAttempt?.({ trace_id, event_id, endpoint_id, number, outcome, status_code, ms });
  };

  /** Refused while another node attempts the event: the backlog offers it again when that lease has ended. */
  const giveUp = (job: Offered, known: StreamState<Delivery>, failure: Failure, trace: Trace) => {
    const { othersAreGone } = deps;
    const inReplay = isActive(known.state) ? replayIdOf(known.state) : null;
    return record(job, { type: "GiveUp", failure, inReplay, node, othersAreGone, at: iso(clock.now()) }, known, trace);
  };

  /** The delivery as the log has it, in the trace in which the event came. */
  const recall = async (job: Offered): Promise<{ known: StreamState<Delivery>; trace: Trace | undefined }> => {
    let trace: Trace | undefined;
    const known = await foldStream(log, delivery, `delivery-${job.eventId}`, {
      onEvent: ({ type, meta }) => {
        // It may have come before, and been blocked, in another trace.
        if (trace === undefined || type === "EventAdmitted" || type === "EventHeld") {
          trace = { trace_id: meta.trace_id, span_id: meta.span_id };
        }
      },
    });
    return { known, trace };
  };

  /** The endpoint as it is with the turn to send one event to it although it is open; null when it is another's turn. */
  const takeTurn = async (job: Offered, trace: Trace): Promise<PresentEndpoint | null> => {
    const { eventId, account, endpointId } = job;
    const command = { type: "ProbeEndpoint", account, eventId, at: iso(clock.now()) } as const;
    const stream = `endpoint-${endpointId}`;
    const done = await aggregates.handle(endpointDecider, stream, command, envelope(account, trace));
    return done.outcome === "accepted" && done.state.phase === "present" ? done.state : null;
  };

  const startOf = (
    { endpointId, early, isCounted }: Offered,
    state: Delivery,
    nowMs: number,
    { timeoutMs, target }: { readonly timeoutMs: number; readonly target?: Target },
    isProbe = false,
  ) => {
    const leaseUntil = iso(nowMs + timeoutMs + LEASE_MARGIN_MS);
    const { othersAreGone } = deps;
    return {
      type: "StartAttempt",
      endpointId,
      ...(target === undefined ? {} : { target }),
      trigger: isActive(state) ? triggerOf(state) : "auto",
      node,
      at: iso(nowMs),
      leaseUntil,
      othersAreGone,
      ...(isProbe
        ? { early: isCounted ? ("turn" as const) : ("probe" as const) }
        : early === undefined
          ? {}
          : { early }),
    } as const;
  };

  /** False when another node is at it, or done with it: the view that lists what waits is a little behind. Asked before the
   * payload is read, and before anything is given up. */
  const isOpen = (job: Offered, { state }: StreamState<Delivery>): boolean => {
    const start = delivery.decide(startOf(job, state, clock.now(), { timeoutMs: 0 }), state);
    return start.ok || start.rejection === "payload-erased" || start.rejection === "target-changed";
  };

  /**
   * A request that could outlast its lease is not sent, and is tried again later: after the lease other nodes go on as if
   * nothing were under way, and the undo of a step could arrive before the step. They read the end of the lease from a clock
   * that may be ahead of this one. Both of our clocks have to agree: the machine's may be set, and the timers stand still
   * while it is suspended.
   */
  const isInTime = (begun: { readonly atMs: number; readonly steadyMs: number }): boolean => {
    const passedMs = Math.max(clock.now() - begun.atMs, timers.now() - begun.steadyMs);
    return passedMs <= LEASE_MARGIN_MS - (deps.othersAreGone ? 0 : CLOCKS_APART_MS_MAX);
  };

  /**
   * An undo of an approved bundle goes to the target that was recorded with the approval, wherever its endpoint is now.
   * Signing secrets, and the value of a secret header that is still there, are those of today.
   */
  const asApproved = async ({ bound, bundle }: Request, present: PresentEndpoint): Promise<PresentEndpoint> => {
    const approved = bound?.target ?? null;
    if (bundle?.undo !== true || approved === null || sameTarget(targetOf(present), approved)) return present;
    const before = await endpointWith(log, approved);
    if (before === null) return present;
    const { url, headers: old } = before.settings;
    const headers = Object.entries(old).map(([name, header]) => {
      const today = present.settings.headers[name];
      return [name, header.digest === null && today?.digest === null ? today : header];
    });
    return { ...present, settings: { ...present.settings, url, headers: Object.fromEntries(headers) } };
  };

  /**
   * What people have approved was to go elsewhere, so nothing is sent: they are asked again. Of a bundle they have approved
   * as a whole: its step fails, and it rolls back.
   */
  const retargeted = async (job: Offered, known: StreamState<Delivery>, trace: Trace): Promise<void> => {
    if (isActive(known.state) && known.state.request.bundle !== undefined) {
      await giveUp(job, known, RETARGETED, trace);
      return;
    }
    const { account } = job;
    const { othersAreGone } = deps;
    deps.onWritten(job, await again.event(job.eventId, { account, trace, node, othersAreGone }));
  };

  /** A request that cannot be made is an attempt that has failed: the event ends as any other, and its endpoint is judged. */
  const headersOf = (outgoing: Parameters<Outbound["headers"]>[0]): Record<string, string> | null => {
    try {
      return deps.outbound.headers(outgoing);
    } catch (error) {
      deps.onError(error);
      return null;
    }
  };

  /** The request of an attempt that has begun, and what is left to do with its answer. */
  const send = async (
    job: Offered & { readonly body: Buffer },
    { endpoint, isElsewhere }: Destination,
    started: StreamState<ActiveDelivery>,
    trace: Trace,
    startedAt: number,
  ): Promise<() => Promise<void>> => {
    const { state } = started;
    const { request, attempts: number } = state;
    const { body, contentType = request.payload.content_type } = job;
    const contentEncoding = job.contentEncoding ?? request.payload.content_encoding ?? "";
    const content = { contentType, contentEncoding, body };
    const headers = headersOf({ job, endpoint, number, ...content, trace, nowMs: startedAt, request });
    const { url, timeout_ms: timeoutMs } = endpoint.settings;
    const sent =
      headers === null ? UNMADE : await deps.sender.send({ account: job.account, url, headers, body, timeoutMs });
    return async () => {
      const answered = answerOf(sent, attemptOfSchedule(state, number), startedAt, clock.now());
      // An answer of the endpoint's former target says nothing about the endpoint, nor does trouble of our own resolver.
      const isAboutIt = !isElsewhere && (sent.outcome === "answered" || sent.resolverFailed !== true);
      const reported = isAboutIt ? deps.onAnswered(job, answered, trace).catch(deps.onError) : null;
      const command = outcome(job, { endpoint, isElsewhere }, state, sent, answered);
      tell(job, command, trace);
      const keep = keepResponse(job, started, sent, headers ?? {}, envelope(job.account, trace));
      const isAgents = request.origin.kind === "agent";
      // An agent is answered with what its target said: once the outcome is known, so is that.
      if (isAgents) await persistently(keep).catch(deps.onError);
      const response = isAgents ? null : keep().catch(deps.onError);
      await record(job, command, started, trace);
      await Promise.all([response, reported]);
    };
  };

  /** Everything up to the answer of the receiver; the promise of the second step records what came of it. */
  const begin = async (job: Offered): Promise<(() => Promise<void>) | null> => {
    const { state: loaded } = await aggregates.load(endpointDecider, `endpoint-${job.endpointId}`);
    if (!deps.onEndpoint(job, loaded)) return null;
    const { known, trace } = job.known === undefined ? await recall(job) : { known: job.known, trace: job.trace };
    if (!isAdmitted(known.state) || trace === undefined) return null;
    if (!isActive(known.state) || !isOpen(job, known)) {
      deps.onWritten(job, known);
      return null;
    }
    const { request } = known.state;
    const stopped = request.origin.kind === "agent" ? await stoppedBecause(aggregates, request) : null;
    if (stopped !== null) {
      await record(job, { type: "Cancel", reason: stopped, at: iso(clock.now()) }, known, trace);
      return null;
    }
    if (loaded.phase !== "present") {
      await giveUp(job, known, DELETED, trace);
      return null;
    }
    const isProbe = loaded.circuit.state === "open";
    const isReplay = job.trigger === "replay" && triggerOf(known.state) === "replay";
    const isPressing = isReplay || job.takesBack === true;
    // A probe that was found on disk before somebody else found out.
    if (job.early === "probe" ? !isProbe : isProbe && !isPressing) return null;
    // A body that was handed over in memory was hashed before it was stored, and is not read from disk.
    const kept = job.body === undefined ? await deps.payloads.read(job.eventId, request.payload) : { body: job.body };
    if (kept === "damaged") {
      await giveUp(job, known, DAMAGED, trace);
      return null;
    }
    const body = kept?.body;
    if (body === undefined) {
      await giveUp(job, known, ERASED, trace);
      return null;
    }
    // What somebody has sent again, or takes a step back, is not kept waiting for a turn.
    const present = isProbe && !isPressing ? await takeTurn(job, trace) : loaded;
    if (present === null) return null;
    const endpoint = await asApproved(request, present);

    const startedAt = clock.now();
    const begun = { atMs: startedAt, steadyMs: timers.now() };
    const target = request.bound === undefined ? {} : { target: targetOf(endpoint) };
    const timeoutMs = endpoint.settings.timeout_ms;
    const start = startOf(job, known.state, startedAt, { timeoutMs, ...target }, isProbe);
    const ran = await run(job, start, known, trace);
    if (ran.outcome === "rejected" && ran.rejection === "target-changed") {
      await retargeted(job, ran.known, trace);
      return null;
    }
    if (ran.outcome === "rejected" && ran.rejection === "payload-erased") {
      await giveUp(job, ran.known, ERASED, trace);
      return null;
    }
    if (ran.outcome !== "accepted" || !isActive(ran.known.state)) {
      deps.onWritten(job, ran.known);
      return null;
    }
    const { state } = ran.known;
    if (!isInTime(begun)) {
      deps.onWritten(job, ran.known);
      return null;
    }
    const isElsewhere = endpoint !== present;
    return send({ ...job, body }, { endpoint, isElsewhere }, { ...ran.known, state }, trace, startedAt);
  };

  return { begin };
};
