import { LRUCache } from "lru-cache";
import { attemptableAt, type Delivery } from "../../domain/delivery/state.ts";
import { isProbeDue, type OpenCircuit, ORDERED_PROBES_MS } from "../../domain/endpoint/circuit.ts";
import {
  type Endpoint,
  endpoint as endpointDecider,
  type PresentEndpoint,
  takesDeliveries,
} from "../../domain/endpoint/decider.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { systemTimers } from "../following/timers.ts";
import type { StreamState } from "../streams/run-command.ts";
import { arrivals } from "./arrivals.ts";
import { type Answered, type AttemptDeps, attempts, type Offered } from "./attempts.ts";
import { backlog, type Look } from "./backlog.ts";
import { endpointHealth } from "./endpoint-health.ts";
import { LANE_MAX, type Lane, lanes } from "./lanes.ts";
import { paces } from "./paces.ts";

export type Deliverer = {
  /** A hint: what is not taken is found on disk. */
  offer(job: Offered): void;
  start(): void;
  /** Takes nothing new and waits for what is under way, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** Whether an attempt of the event may be under way in this process. */
  isSending(eventId: string): boolean;
  /** Looks on disk at once, as after an endpoint was enabled. */
  wake(): void;
  /** Started, and the last look on disk ended well and not long ago. */
  healthy(): boolean;
};

export type DelivererDeps = Omit<AttemptDeps, "onEndpoint" | "onAnswered" | "onWritten"> & {
  readonly views: ViewStore;
  /** Told of each delivery that this deliverer has written to, as it then is. */
  readonly onChanged?: (eventId: string, known: StreamState<Delivery>) => void;
};

/** Requests under way to all receivers together: bounds sockets and the bodies in memory. */
const RUNNING_MAX = 512;
/** Bodies kept with waiting jobs; beyond, a body is read from the log when its turn comes. */
const BODY_BYTES_MAX = 32 * 1_048_576;
/** Waiting jobs that keep what is known of their delivery, some kilobytes each; beyond, it is read from the log as well. */
const KNOWN_MAX = 16_384;
/** What another process admitted is found at a look, unless one is asked for before. */
const POLL_MS = 1_000;
/** Between two looks on disk, however often one is asked for. */
const REFILL_GAP_MS = 50;
/** Many polls, and time for one long look: a loop that has not ended one in this time hangs. */
const LOOK_AGE_MAX_MS = 30_000;
/** Endpoints looked at in one go; the next look goes on behind the last. */
const ENDPOINTS_A_LOOK = 500;
/** Deliveries of one endpoint looked at in one go: a full lane, and those under way. */
const DELIVERIES_A_LOOK = LANE_MAX + RUNNING_MAX;
/** Deliveries whose newest revision is remembered, as the view that lists what waits is a little behind. */
const ENDED_MAX = 20_000;
const NEVER = Number.POSITIVE_INFINITY;
const QUEUE = deliveryQueue.schema.name;
const NOTHING: ReadonlySet<string> = new Set();

/** One request at a time: its events are sent in the order of their admission, whatever has waited on disk. */
const isOrdered = ({ settings }: PresentEndpoint): boolean => settings.concurrency === 1;

/** Somebody has this one sent again: it does not wait for the circuit of its endpoint. One of many replayed at once does. */
const isReplay = ({ trigger }: Offered): boolean => trigger === "replay";

/** What takes a bundle's step back does not wait either, be its endpoint disabled: else nobody learns that it cannot be done. */
const isPressing = (job: Offered): boolean => isReplay(job) || job.takesBack === true;

/** The receiver is there, and refuses this one event: another may be taken. */
const isRefusal = ({ statusCode, retryAt }: Answered): boolean =>
  statusCode !== null && statusCode >= 400 && statusCode < 500 && statusCode !== 408 && retryAt === null;

export const deliverer = (deps: DelivererDeps): Deliverer => {
  const { aggregates, clock, timers = systemTimers } = deps;
  const queue = lanes<Offered>();
  const pace = paces(clock, timers);
  const health = endpointHealth({ ...deps, paces: pace, onClosing: (id, state) => void see(id, state) });
  const behind = arrivals<Offered>();
  const ended = new LRUCache<string, number>({ max: ENDED_MAX });
  const disk = backlog({ ...deps, isFresh: (eventId, revision) => (ended.get(eventId) ?? -1) <= revision });
  /** By endpoint, the event of this process's last probe of it if that was refused. */
  const refused = new Map<string, string>();
  let bodyBytes = 0;
  let stopping = false;
  let started = false;
  let cancelTimer: (() => void) | null = null;
  let timerAt = NEVER;
  let refilling = false;
  let lastEndpoint = "";
  /** Those that something on disk waits for, as far as this round over it has come. */
  const found = new Set<string>();
  /** The view once listed everything up to here, or the log had it at the first look; null before that. */
  let listedUpTo: Position | null = null;
  /** The start counts as a look; null before, and after one that failed. */
  let lookedAt: number | null = null;
  const recording = new Set<Promise<void>>();

  const end = (eventId: string, known: StreamState<Delivery>): void => {
    ended.set(eventId, known.revision ?? 0);
  };

  const lookAt = (atMs: number): void => {
    if (stopping || !started || atMs >= timerAt) return;
    cancelTimer?.();
    timerAt = atMs;
    cancelTimer = timers.after(Math.max(0, Math.min(atMs - clock.now(), POLL_MS)), () => {
      cancelTimer = null;
      timerAt = NEVER;
      void refill();
    });
  };

  const forgetBody = (job: Offered, lane: Lane<Offered> | undefined): void => {
    const bytes = job.body?.length ?? 0;
    bodyBytes -= bytes;
    if (lane !== undefined) lane.bodyBytes -= bytes;
  };

  /** What waits in memory is on disk as well, and is found there in its order; so is the job, if there is one. */
  const hold = (endpointId: string, account: string, job?: Offered): void => {
    const forgotten = queue.hold(endpointId, account);
    const lane = queue.lane(endpointId);
    for (const it of forgotten) {
      forgetBody(it, lane);
      const { body: _left, ...lean } = it;
      if (isPressing(it)) queue.put(lean);
    }
    const newest = forgotten.findLast((it) => !isPressing(it)) ?? job;
    if (newest !== undefined) behind.miss(endpointId, newest.eventId, clock.now());
  };

  /** Takes notice of an endpoint as it is; answers how it was seen before. */
  const see = (endpointId: string, state: PresentEndpoint, job?: Offered): PresentEndpoint | null => {
    const before = pace.see(endpointId, state);
    if (before === state) return before;
    const takes = takesDeliveries(state);
    // What was admitted before this process saw an endpoint for the first time may be on disk.
    const took = before === null ? !isOrdered(state) : takesDeliveries(before);
    // What waited on disk all the while is older than what is offered from now on.
    const isBehind = isOrdered(state) && (before === null || (takes && !took));
    if (isBehind || (took && !takes)) hold(endpointId, state.account, takes && before !== null ? undefined : job);
    if (takes) refused.delete(endpointId);
    if (takes && !took) lookAt(clock.now());
    if (state.circuit.state === "open") lookAt(Date.parse(state.circuit.nextProbeAt));
    return before;
  };

  const maySend = (job: Offered, state: Endpoint): boolean => {
    if (state.phase !== "present") return true;
    const before = see(job.endpointId, state, job);
    if (state.disabled !== null) return job.takesBack === true;
    if (state.circuit.state === "open") return job.early === "probe" || isPressing(job);
    return before !== null || !isOrdered(state);
  };

  const attempting = attempts({
    ...deps,
    onEndpoint: maySend,
    async onAnswered(job, answered, trace) {
      if (job.early === "probe") refused.delete(job.endpointId);
      if (job.early === "probe" && isRefusal(answered)) refused.set(job.endpointId, job.eventId);
      const state = await health.answered(job, answered, trace);
      if (state?.phase === "present") see(job.endpointId, state);
    },
    onWritten: (job, known) => {
      end(job.eventId, known);
      deps.onChanged?.(job.eventId, known);
      const { state } = known;
      const nextAt = attemptableAt(state);
      if (nextAt !== null) lookAt(Date.parse(nextAt));
    },
  });

  const work = async (job: Offered): Promise<void> => {
    forgetBody(job, queue.lane(job.endpointId));
    let rest: (() => Promise<void>) | null = null;
    try {
      rest = await attempting.begin(job);
    } catch (error) {
      deps.onError(error);
      lookAt(clock.now() + POLL_MS);
    }
    // The receiver is free again: what is left is ours to write down.
    const recorded = rest === null ? Promise.resolve() : rest().catch(deps.onError);
    const lane = queue.lane(job.endpointId);
    const drained = lane?.overflowed === true && lane.waiting.length < LANE_MAX / 2;
    recording.add(recorded);
    recorded.then(() => {
      recording.delete(recorded);
      pump();
    });
    queue.done(job);
    if (drained) lookAt(clock.now() + REFILL_GAP_MS);
    pump();
  };

  /** Neither an endpoint nor an account takes more requests than it leaves to the others. */
  const room = (lane: Lane<Offered>): number => {
    if (queue.runningOf(lane.account) >= RUNNING_MAX - queue.running()) return 0;
    const wake = (): void => {
      const waiting = queue.lane(lane.endpointId);
      if (waiting !== undefined) queue.wake(waiting);
      pump();
    };
    return pace.mayBegin(lane.endpointId, lane.running, wake) ? 1 : 0;
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
    let soonest = NEVER;
    try {
      for (let looked = 0; looked < ENDPOINTS_A_LOOK; looked += 1) {
        const next = await disk.endpointAfter(lastEndpoint);
        lastEndpoint = next ?? "";
        if (next === null) {
          await letGo();
          break;
        }
        found.add(next);
        soonest = Math.min(soonest, await refillLane(next));
      }
      if (lastEndpoint !== "") soonest = clock.now() + REFILL_GAP_MS;
      lookedAt = clock.now();
    } catch (error) {
      lookedAt = null;
      deps.onError(error);
    }
    refilling = false;
    lookAt(Math.min(Math.max(soonest, clock.now() + REFILL_GAP_MS), clock.now() + POLL_MS));
    pump();
  };

  /** Answers when the endpoint's next delivery is due that is not yet. */
  const refillLane = async (endpointId: string): Promise<number> => {
    const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
    if (state.phase === "present") {
      see(endpointId, state);
      if (!takesDeliveries(state)) return refillClosed(endpointId, state);
    }
    const lane = queue.lane(endpointId);
    if (lane !== undefined && lane.waiting.length > LANE_MAX / 2) return NEVER;
    if (state.phase === "present" && isOrdered(state)) return takeInOrder(endpointId, state);
    const look = await disk.due(endpointId, DELIVERIES_A_LOOK);
    // Looked up again: the lane may have come or gone meanwhile.
    const filling = queue.lane(endpointId);
    if (filling !== undefined) filling.overflowed = look.listed === null;
    putAll(deps.othersAreGone ? look.jobs : shuffled(look.jobs));
    return look.soonest;
  };

  /** As `refillLane`, of an endpoint that takes nothing but what does not wait for it, and a probe where it may be well again. */
  const refillClosed = async (endpointId: string, state: PresentEndpoint): Promise<number> => {
    // Of a process that is gone: what this one has admitted it was handed.
    const { jobs, soonest } = await disk.pressing(endpointId, DELIVERIES_A_LOOK);
    putAll(jobs);
    const { disabled, circuit } = state;
    if (disabled !== null || circuit.state !== "open") return soonest;
    return Math.min(soonest, await probe(endpointId, state, circuit));
  };

  /** False while the view is folded again: what it does not list may wait all the same. Asked after the view was read. */
  const isWhole = async (): Promise<boolean> => {
    listedUpTo ??= (await deps.log.head("records")) ?? "";
    const position = (await deps.views.position(QUEUE)) ?? "";
    if (position < listedUpTo) return false;
    listedUpTo = position;
    return true;
  };

  /** Behind a whole round over the disk: where another node has sent what waited, nothing has to be remembered any more. */
  const letGo = async (): Promise<void> => {
    // Events that come during the question have been added by its end.
    if ([...queue.all()].some(({ overflowed }) => overflowed) && !(await isWhole())) return found.clear();
    for (const { endpointId, waiting, running, overflowed } of queue.all()) {
      if (found.has(endpointId) || waiting.length > 0 || running > 0) continue;
      if (overflowed) joinArrivals(endpointId, NOTHING);
      if (queue.lane(endpointId)?.overflowed === false) queue.letGo(endpointId);
    }
    found.clear();
  };

  /**
   * One event finds out how an endpoint is that takes nothing else, and another one after each that failed: it may be the
   * event that fails. In the order of admission that is believed of one that is refused, or after a long time.
   */
  const probe = async (endpointId: string, state: PresentEndpoint, circuit: OpenCircuit): Promise<number> => {
    const { nextProbeAt, lastProbed, since } = circuit;
    const now = clock.now();
    if (!isProbeDue(circuit, new Date(now).toISOString())) return Date.parse(nextProbeAt);
    const mayPass =
      !isOrdered(state) || refused.get(endpointId) === lastProbed || now - Date.parse(since) >= ORDERED_PROBES_MS;
    const job = await disk.toProbe(endpointId, state, mayPass ? lastProbed : null);
    if (job !== null) queue.put(job);
    return NEVER;
  };

  const takeInOrder = async (endpointId: string, state: PresentEndpoint): Promise<number> => {
    const isBehind = queue.lane(endpointId)?.overflowed === true;
    const look = await disk.inOrder(endpointId, state, DELIVERIES_A_LOOK);
    const isFull = !putAll(look.jobs);
    if (isBehind && !isFull && look.listed !== null && (await isWhole())) joinArrivals(endpointId, look.listed);
    return look.soonest;
  };

  /** What was offered meanwhile comes behind what was on disk, and what is offered from now on behind that. */
  const joinArrivals = (endpointId: string, listed: NonNullable<Look["listed"]>): void => {
    const later = behind.take(endpointId, listed, clock.now());
    const lane = queue.lane(endpointId);
    if (later === null || lane === undefined) return;
    lane.overflowed = false;
    putAll(later);
  };

  /** False when the lane of one of them was full. */
  const putAll = (jobs: readonly Offered[]): boolean => {
    let isTaken = true;
    for (const job of jobs) {
      if (queue.isFull(job.endpointId)) isTaken = false;
      queue.put(job);
    }
    return isTaken;
  };

  /** Nodes that look at the same time see the same list: each takes it in an order of its own, so that they seldom want the
   * same delivery at once, which costs the loser an append. */
  const shuffled = <T>(list: readonly T[]): readonly T[] =>
    list
      .map((item) => ({ item, order: deps.randomness.number() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);

  /** False when it waits on disk, behind others or until its endpoint takes deliveries again. */
  const isAhead = (job: Offered): boolean => {
    const state = pace.seen(job.endpointId);
    if (state === null || isPressing(job)) return true;
    if (!takesDeliveries(state)) {
      behind.miss(job.endpointId, job.eventId, clock.now());
      return false;
    }
    if (!isOrdered(state) || queue.lane(job.endpointId)?.overflowed !== true) return true;
    const { body: _left, known: _recalled, ...lean } = job;
    behind.add(lean, clock.now());
    return false;
  };

  return {
    offer(job) {
      if (stopping || !started || !isAhead(job)) return;
      const bytes = job.body?.length ?? 0;
      const laneBytes = queue.lane(job.endpointId)?.bodyBytes ?? 0;
      // As with requests: one endpoint's bodies leave as much room to those of the others.
      const keepsBody = laneBytes + bytes <= BODY_BYTES_MAX - bodyBytes;
      const { body, known, ...lean } = job;
      const kept = {
        ...(keepsBody && body !== undefined ? { body } : {}),
        ...(queue.waiting() < KNOWN_MAX && known !== undefined ? { known } : {}),
      };
      if (!queue.put({ ...lean, ...kept })) return;
      const lane = queue.lane(job.endpointId);
      if (keepsBody && lane !== undefined) {
        bodyBytes += bytes;
        lane.bodyBytes += bytes;
      }
      pump();
    },
    start() {
      started = true;
      lookedAt = clock.now();
      lookAt(clock.now());
    },
    async stop(graceMs) {
      stopping = true;
      cancelTimer?.();
      const deadline = Date.now() + graceMs;
      while ((queue.running() > 0 || recording.size > 0 || refilling) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    isSending: queue.isRunning,
    wake: () => lookAt(clock.now()),
    healthy: () => lookedAt !== null && clock.now() - lookedAt < LOOK_AGE_MAX_MS,
  };
};
