import { type Delivery, type DeliveryCommand, delivery } from "../../domain/delivery/decider.ts";
import type { AttemptEnd, Failure } from "../../domain/delivery/events.ts";
import { failureOf } from "../../domain/delivery/failure-of.ts";
import { nextAttemptAt } from "../../domain/delivery/retry.ts";
import { type Endpoint, endpoint as endpointDecider, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Clock, EventLog, HttpSender, Randomness, Sent, ViewStore } from "../../domain/ports.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Aggregates } from "../aggregates.ts";
import { type Trace, toEvents } from "../envelope.ts";
import { decodeBody, encodeBody, type Payloads, payloadStream } from "../payloads.ts";
import { type Known, readOn, runCommand } from "../run-command.ts";
import { type Job, LANE_MAX, type Lane, lanes } from "./lanes.ts";
import type { Outbound } from "./outbound.ts";

/** A delivery handed over by the admission, with what is known of it already: nothing has to be read again. */
export type Offered = Job & {
  readonly trace?: Trace;
  readonly known?: Known<Delivery>;
  readonly body?: Buffer;
  readonly contentType?: string;
};

export type Deliverer = {
  /** A hint: what is not taken is found on disk. */
  offer(job: Offered): void;
  start(): void;
  /** Takes nothing new and waits for what is under way, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** Looks on disk at once, as after an endpoint was enabled. */
  wake(): void;
  readonly depth: () => { readonly running: number; readonly waiting: number };
};

export type DelivererDeps = {
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly payloads: Payloads;
  readonly sender: HttpSender;
  readonly outbound: Outbound;
  /** This process, and whether every other one that held a lease is known to be gone. */
  readonly node: string;
  readonly othersAreGone: boolean;
  readonly onError: (error: unknown) => void;
};

/** Requests under way to all receivers together: bounds sockets and the bodies in memory. */
const RUNNING_MAX = 512;
/** Bodies kept with waiting jobs; beyond, a body is read from the log when its turn comes. */
const BODY_BYTES_MAX = 32 * 1_048_576;
/** A lease outlives its request by this, so that the outcome can be recorded even when the log is slow. */
const LEASE_MARGIN_MS = 15_000;
const POLL_BUSY_MS = 1_000;
const POLL_IDLE_MS = 5_000;
/** Between two looks on disk, however often one is asked for. */
const REFILL_GAP_MS = 50;
/** Endpoints looked at in one go; the next look goes on behind the last. */
const ENDPOINTS_A_LOOK = 500;
/** Deliveries whose newest revision is remembered, as the view that lists what waits is a little behind. */
const ENDED_MAX = 20_000;
/** How often recording an outcome is tried: afterwards the lease runs out and the event is sent again under its id. */
const RECORD_ATTEMPTS_MAX = 4;
const RECORD_BACKOFF_MS = 500;

/** Until an endpoint's own settings have been read, which its first attempt does. */
const FIRST_LIMITS: Limits = { concurrency: 1, ratePerSecond: null };
const LIMITS_MAX = 10_000;

const QUEUE = "delivery-queue.v1";
const iso = (ms: number): string => new Date(ms).toISOString();
const initial: Known<Delivery> = { state: delivery.initial, revision: null };

const DELETED: Failure = {
  kind: "endpoint-deleted",
  detail: "The endpoint was deleted before the event was delivered",
};
const ERASED: Failure = { kind: "payload-erased", detail: "The payload was erased before the event was delivered" };

type Limits = { readonly concurrency: number; readonly ratePerSecond: number | null };

export const deliverer = (deps: DelivererDeps): Deliverer => {
  const { log, views, aggregates, clock, randomness, node } = deps;
  const queue = lanes<Offered>();
  const ended = new Map<string, number>();
  const limits = new Map<string, Limits>();
  let bodyBytes = 0;
  let stopping = false;
  let started = false;
  let timer: NodeJS.Timeout | null = null;
  let timerAt = Number.POSITIVE_INFINITY;
  let refilling = false;
  let lastEndpoint = "";
  const recording = new Set<Promise<void>>();

  const envelope = (account: string, trace: Trace) => ({
    commandId: randomId("cmd_", randomness),
    account,
    actor: { kind: "system", id: "deliverer" } as const,
    trace,
    at: iso(clock.now()),
  });

  const note = (endpointId: string, state: Endpoint): void => {
    if (state.phase !== "present") return;
    const { concurrency, rate_per_second: ratePerSecond } = state.settings;
    if (limits.size >= LIMITS_MAX) limits.clear();
    limits.set(endpointId, { concurrency, ratePerSecond });
  };

  const end = (eventId: string, known: Known<Delivery>): void => {
    ended.delete(eventId);
    ended.set(eventId, known.revision ?? 0);
    if (ended.size <= ENDED_MAX) return;
    const [oldest] = ended.keys();
    if (oldest !== undefined) ended.delete(oldest);
  };

  const lookAt = (atMs: number): void => {
    if (stopping || !started || atMs >= timerAt) return;
    if (timer !== null) clearTimeout(timer);
    timerAt = atMs;
    timer = setTimeout(
      () => {
        timer = null;
        timerAt = Number.POSITIVE_INFINITY;
        void refill();
      },
      Math.max(0, Math.min(atMs - clock.now(), POLL_IDLE_MS)),
    );
    timer.unref();
  };

  const run = (job: Offered, command: DeliveryCommand, known: Known<Delivery>, trace: Trace) =>
    runCommand(log, delivery, `delivery-${job.eventId}`, known, command, envelope(job.account, trace));

  /** Writes the outcome down; it matters more than any other append, so a log that is away for a moment is waited for. */
  const record = async (
    job: Offered,
    command: DeliveryCommand,
    known: Known<Delivery>,
    trace: Trace,
  ): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const ran = await run(job, command, known, trace);
        end(job.eventId, ran.known);
        const { state } = ran.known;
        if (state.phase === "admitted" && state.dueAt !== null) lookAt(Date.parse(state.dueAt));
        return;
      } catch (error) {
        if (attempt >= RECORD_ATTEMPTS_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, RECORD_BACKOFF_MS * attempt));
      }
    }
  };

  const keepResponse = async (
    job: Offered,
    number: number,
    sent: Sent,
    headers: Record<string, string>,
    trace: Trace,
  ) => {
    const answered = sent.outcome === "answered";
    const data = {
      event_id: job.eventId,
      number,
      headers: answered ? sent.headers : {},
      ...encodeBody(Buffer.from(answered ? sent.body : "")),
      truncated: answered && sent.truncated,
      request_headers: deps.outbound.shown(headers),
    };
    const events = toEvents([{ type: "ResponseKept", data }], envelope(job.account, trace));
    await log.append(payloadStream(job.eventId), "any", events);
  };

  const outcome = (
    job: Offered,
    endpoint: PresentEndpoint,
    number: number,
    startedAt: number,
    sent: Sent,
  ): DeliveryCommand => {
    const now = clock.now();
    const status = sent.outcome === "answered" ? sent.statusCode : (sent.statusCode ?? null);
    const attempt: AttemptEnd = {
      event_id: job.eventId,
      endpoint_id: job.endpointId,
      number,
      at: iso(now),
      duration_ms: Math.max(0, Math.round(now - startedAt)),
      status_code: status,
      timings_ms: sent.timings,
    };
    const failure = failureOf(sent);
    if (failure === null) return { type: "Succeed", end: { ...attempt, status_code: status ?? 200 } };
    // Gone (RFC 9110, section 15.5.11): the receiver asks not to be called again.
    const retryable = status !== 410;
    const wait = sent.outcome === "answered" && (status === 429 || status === 503) ? sent.retryAfterMs : null;
    const schedule = endpoint.settings.retry_schedule_s;
    const next = retryable ? nextAttemptAt(schedule, number, now, randomness.number(), wait) : null;
    return { type: "Fail", end: attempt, failure, retryable, nextAttemptAt: next === null ? null : iso(next) };
  };

  const giveUp = (job: Offered, known: Known<Delivery>, failure: Failure, trace: Trace): Promise<void> =>
    record(job, { type: "GiveUp", failure, at: iso(clock.now()) }, known, trace);

  /** The delivery as the log has it, in the trace in which the event came. */
  const recall = async (job: Offered): Promise<{ known: Known<Delivery>; trace: Trace | undefined }> => {
    let trace: Trace | undefined;
    const known = await readOn(log, delivery, `delivery-${job.eventId}`, initial, ({ meta }) => {
      trace ??= { trace_id: meta.trace_id, span_id: meta.span_id };
    });
    return { known, trace };
  };

  /** Everything up to the answer of the receiver; the promise of the second step records what came of it. */
  const attempt = async (job: Offered): Promise<(() => Promise<void>) | null> => {
    const { state: endpoint } = await aggregates.load(endpointDecider, `endpoint-${job.endpointId}`);
    note(job.endpointId, endpoint);
    const { known, trace } = job.known === undefined ? await recall(job) : { known: job.known, trace: job.trace };
    if (known.state.phase !== "admitted" || trace === undefined) return null;
    const { request } = known.state;
    if (endpoint.phase !== "present") {
      await giveUp(job, known, DELETED, trace);
      return null;
    }
    if (endpoint.disabled !== null) return null;
    const kept = job.body === undefined ? await deps.payloads.read(job.eventId, request.payload.revision) : null;
    const body = job.body ?? (kept === null ? null : decodeBody(kept));
    if (body === null) {
      await giveUp(job, known, ERASED, trace);
      return null;
    }

    const startedAt = clock.now();
    const leaseUntil = iso(startedAt + endpoint.settings.timeout_ms + LEASE_MARGIN_MS);
    const { endpointId } = job;
    const { othersAreGone } = deps;
    const at = iso(startedAt);
    const start = { type: "StartAttempt", endpointId, trigger: "auto", node, at, leaseUntil, othersAreGone } as const;
    const ran = await run(job, start, known, trace);
    if (ran.outcome === "rejected" && ran.rejection === "payload-erased") {
      await giveUp(job, ran.known, ERASED, trace);
      return null;
    }
    if (ran.outcome !== "accepted" || ran.known.state.phase !== "admitted") {
      end(job.eventId, ran.known);
      return null;
    }
    const number = ran.known.state.attempts;
    const contentType = job.contentType ?? request.payload.content_type;
    const headers = deps.outbound.headers({ job, endpoint, number, contentType, body, trace, nowMs: startedAt });
    const { url, timeout_ms: timeoutMs } = endpoint.settings;
    const sent = await deps.sender.send({ url, headers, body, timeoutMs });
    const started = ran.known;
    return async () => {
      const command = outcome(job, endpoint, number, startedAt, sent);
      const response = keepResponse(job, number, sent, headers, trace).catch(deps.onError);
      await record(job, command, started, trace);
      await response;
    };
  };

  const work = async (job: Offered): Promise<void> => {
    bodyBytes -= job.body?.length ?? 0;
    let rest: (() => Promise<void>) | null = null;
    try {
      rest = await attempt(job);
    } catch (error) {
      deps.onError(error);
      lookAt(clock.now() + POLL_BUSY_MS);
    }
    // The receiver is free again: what is left is ours to write down.
    const recorded = rest === null ? Promise.resolve() : rest().catch(deps.onError);
    const lane = queue.lane(job.endpointId);
    const drained = lane?.overflowed === true && lane.waiting.length < LANE_MAX / 2;
    recording.add(recorded);
    recorded.then(() => recording.delete(recorded));
    queue.done(job);
    if (drained) lookAt(clock.now() + REFILL_GAP_MS);
    pump();
  };

  const room = (lane: Lane<Offered>): number => {
    const settings = limits.get(lane.endpointId) ?? FIRST_LIMITS;
    if (settings.ratePerSecond !== null) {
      const now = clock.now();
      if (lane.notBefore > now) {
        setTimeout(() => {
          queue.wake(lane);
          pump();
        }, lane.notBefore - now).unref();
        return 0;
      }
      lane.notBefore = Math.max(now, lane.notBefore) + 1_000 / settings.ratePerSecond;
    }
    return settings.concurrency - lane.running;
  };

  const pump = (): void => {
    while (!stopping && queue.running() + recording.size < RUNNING_MAX) {
      const job = queue.take(room);
      if (job === null) return;
      void work(job);
    }
  };

  /** Takes what is due from disk, endpoint by endpoint, so that no long queue hides a short one. */
  const refill = async (): Promise<void> => {
    if (refilling || stopping) return;
    refilling = true;
    let soonest = Number.POSITIVE_INFINITY;
    let any = false;
    try {
      for (let looked = 0; looked < ENDPOINTS_A_LOOK; looked += 1) {
        const [next] = await views.page(QUEUE, {
          where: [{ field: "endpoint_id", is: ">", value: lastEndpoint }],
          sort: { field: "endpoint_id", order: "asc" },
          limit: 1,
        });
        lastEndpoint = String(next?.document.endpoint_id ?? "");
        if (next === undefined) break;
        any = true;
        soonest = Math.min(soonest, await refillLane(lastEndpoint));
      }
      if (lastEndpoint !== "") soonest = clock.now() + REFILL_GAP_MS;
    } catch (error) {
      deps.onError(error);
      any = true;
    }
    refilling = false;
    lookAt(Math.min(Math.max(soonest, clock.now() + REFILL_GAP_MS), clock.now() + (any ? POLL_BUSY_MS : POLL_IDLE_MS)));
    pump();
  };

  /** Answers when the endpoint's next delivery is due that is not yet. */
  const refillLane = async (endpointId: string): Promise<number> => {
    const lane = queue.lane(endpointId);
    const space = LANE_MAX - (lane?.waiting.length ?? 0);
    const now = clock.now();
    const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
    if (state.phase === "present" && state.disabled !== null) return Number.POSITIVE_INFINITY;
    note(endpointId, state);
    if (space < LANE_MAX / 2) return Number.POSITIVE_INFINITY;
    const limit = LANE_MAX + RUNNING_MAX;
    const due = await views.page(QUEUE, {
      where: [{ field: "endpoint_id", is: "=", value: endpointId }],
      sort: { field: "due_at", order: "asc" },
      limit,
    });
    if (lane !== undefined) lane.overflowed = due.length === limit;
    let soonest = Number.POSITIVE_INFINITY;
    for (const { id, document } of due) {
      const at = dueAt(document.due_at, document.node, document.lease_until);
      if (at > now) soonest = Math.min(soonest, at);
      else if ((ended.get(id) ?? -1) <= Number(document.revision)) {
        queue.put({ eventId: id, account: String(document.account), endpointId });
      }
    }
    return soonest;
  };

  /** A lease that a gone process held does not have to run out. */
  const dueAt = (due: unknown, holder: unknown, lease: unknown): number =>
    deps.othersAreGone && typeof lease === "string" && holder !== node ? 0 : Date.parse(String(due));

  return {
    offer(job) {
      if (stopping || !started) return;
      const bytes = job.body?.length ?? 0;
      const { body: _left, ...lean } = job;
      const taken = queue.put(bodyBytes + bytes > BODY_BYTES_MAX ? lean : job);
      if (taken && bodyBytes + bytes <= BODY_BYTES_MAX) bodyBytes += bytes;
      if (taken) pump();
    },
    start() {
      started = true;
      lookAt(clock.now());
    },
    async stop(graceMs) {
      stopping = true;
      if (timer !== null) clearTimeout(timer);
      const deadline = Date.now() + graceMs;
      while ((queue.running() > 0 || recording.size > 0 || refilling) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    wake: () => lookAt(clock.now()),
    depth: () => ({ running: queue.running() + recording.size, waiting: queue.waiting() }),
  };
};
