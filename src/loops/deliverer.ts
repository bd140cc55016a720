import type { Delivery } from "../../domain/delivery/decider.ts";
import { type Endpoint, endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { ViewStore } from "../../domain/ports.ts";
import type { Known } from "../run-command.ts";
import { type AttemptDeps, attempts, type Offered } from "./attempts.ts";
import { LANE_MAX, type Lane, lanes } from "./lanes.ts";

export type Deliverer = {
  /** A hint: what is not taken is found on disk. */
  offer(job: Offered): void;
  start(): void;
  /** Takes nothing new and waits for what is under way, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** Looks on disk at once, as after an endpoint was enabled. */
  wake(): void;
  /** Started, and the last look on disk ended well and not long ago. */
  healthy(): boolean;
};

export type DelivererDeps = Omit<AttemptDeps, "onEndpoint" | "onWritten"> & {
  readonly views: ViewStore;
  /** Told of each delivery that this deliverer has written to, as it then is. */
  readonly onChanged?: (eventId: string, known: Known<Delivery>) => void;
};

/** Requests under way to all receivers together: bounds sockets and the bodies in memory. */
const RUNNING_MAX = 512;
/** Bodies kept with waiting jobs; beyond, a body is read from the log when its turn comes. */
const BODY_BYTES_MAX = 32 * 1_048_576;
/** What another process admitted is found at a look, unless one is asked for before. */
const POLL_MS = 1_000;
/** Between two looks on disk, however often one is asked for. */
const REFILL_GAP_MS = 50;
/** Many polls, and time for one long look: a loop that has not ended one in this time hangs. */
const LOOK_AGE_MAX_MS = 30_000;
/** Endpoints looked at in one go; the next look goes on behind the last. */
const ENDPOINTS_A_LOOK = 500;
/** Deliveries whose newest revision is remembered, as the view that lists what waits is a little behind. */
const ENDED_MAX = 20_000;
/** Until an endpoint's own settings have been read, which its first attempt does. */
const FIRST_LIMITS: Limits = { concurrency: 1, ratePerSecond: null };
const LIMITS_MAX = 10_000;

const QUEUE = "delivery-queue.v1";

type Limits = { readonly concurrency: number; readonly ratePerSecond: number | null };

export const deliverer = (deps: DelivererDeps): Deliverer => {
  const { views, aggregates, clock, node } = deps;
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
  /** The start counts as a look; null before, and after one that failed. */
  let lookedAt: number | null = null;
  const recording = new Set<Promise<void>>();

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
      Math.max(0, Math.min(atMs - clock.now(), POLL_MS)),
    );
    timer.unref();
  };

  const attempting = attempts({
    ...deps,
    onEndpoint: note,
    onWritten: (job, known) => {
      end(job.eventId, known);
      deps.onChanged?.(job.eventId, known);
      const { state } = known;
      if (state.phase === "admitted" && state.dueAt !== null) lookAt(Date.parse(state.dueAt));
    },
  });

  const work = async (job: Offered): Promise<void> => {
    bodyBytes -= job.body?.length ?? 0;
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
    try {
      for (let looked = 0; looked < ENDPOINTS_A_LOOK; looked += 1) {
        const [next] = await views.page(QUEUE, {
          where: [{ field: "endpoint_id", is: ">", value: lastEndpoint }],
          sort: { field: "endpoint_id", order: "asc" },
          limit: 1,
        });
        lastEndpoint = String(next?.document.endpoint_id ?? "");
        if (next === undefined) break;
        soonest = Math.min(soonest, await refillLane(lastEndpoint));
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
    for (const { id, document } of deps.othersAreGone ? due : shuffled(due)) {
      const at = dueAt(document.due_at, document.node, document.lease_until);
      if (at > now) soonest = Math.min(soonest, at);
      else if ((ended.get(id) ?? -1) <= Number(document.revision)) {
        queue.put({ eventId: id, account: String(document.account), endpointId });
      }
    }
    return soonest;
  };

  /** Nodes that look at the same time see the same list: each takes it in an order of its own, so that they seldom want the
   * same delivery at once, which costs the loser an append. */
  const shuffled = <T>(list: readonly T[]): readonly T[] =>
    list
      .map((item) => ({ item, order: deps.randomness.number() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);

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
      lookedAt = clock.now();
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
    healthy: () => lookedAt !== null && clock.now() - lookedAt < LOOK_AGE_MAX_MS,
  };
};
