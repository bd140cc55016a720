import { until } from "../../test/support/program.ts";
import { CONNECTIONS, latencies, OPEN_CONNECTIONS, orderTo, sendLoad, type World } from "./bench-world.ts";
import { monotonicMs, sleep } from "./clock.ts";
import type { LoadOutcome } from "./load.ts";
import { type Spread, spreadOf } from "./spread.ts";
import { queuedOf, runtimeOf, type Subject } from "./subject.ts";
import { WINDOW } from "./workloads.ts";

export type Sustained = {
  readonly perS: number;
  /** The most records by which the views lagged, and (`lagEventsAtEnd`) the lag at the load's end. */
  readonly lagEventsMax: number;
  readonly lagEventsAtEnd: number;
  /** The greatest lag in seconds, because the positions of some logs do not count records. */
  readonly lagSMax: number;
  readonly lagSAtEnd: number;
  readonly queuedAtEnd: number;
  readonly drainS: number;
  readonly delivered: number;
  readonly repeated: number;
  readonly loadCpuShare: number;
  readonly receiverCpuShare: number;
  readonly rssMiB: number;
};

const LAG_EVENTS_MAX = 4_000;
/** Seconds, for logs whose positions do not count records. This lag is measured once a second. */
const LAG_S_MAX = 1;
const LOOK_MS = 50;
/** Time (ms) for views that fell behind in a closed loop to catch up at their engine's speed. */
const DRAIN_LIMIT_MS = 600_000;
/** The share of the load before counting begins, because the backlog has to be equal at both ends of the count. */
const WARM_UP = 0.1;

const drained = async (world: World, subject: Subject, accepted: number): Promise<number> => {
  const from = monotonicMs();
  const isOver = async (): Promise<boolean> => {
    const [{ unique }, { lagEvents }] = await Promise.all([world.receiver.ask({ kind: "count" }), runtimeOf(subject)]);
    return unique >= accepted && lagEvents === 0;
  };
  await until("everything is delivered and visible", isOver, DRAIN_LIMIT_MS);
  return (monotonicMs() - from) / 1_000;
};

/**
 * Measures S, the highest rate without a growing backlog. The senders of A may be at most `WINDOW` events ahead of the
 * receiver, and pause while a view lags more than `LAG_EVENTS_MAX` or `LAG_S_MAX`, so that the slowest part sets the
 * rate.
 */
export const measureSustained = async (world: World, subject: Subject, seconds: number): Promise<Sustained> => {
  const { load, receiver } = world;
  const send = { connections: CONNECTIONS, seconds, rate: null, credit: WINDOW };
  const order = orderTo(subject, subject.deliverPath, send);
  await receiver.ask({ kind: "begin", run: order.run, delayMs: 0 });
  let lagEventsMax = 0;
  let lagSMax = 0;
  let isOver = false;
  const sending = sendLoad(world, order).finally(() => {
    isOver = true;
  });
  const startedAt = monotonicMs();
  const endsAt = startedAt + seconds * 1_000;
  let first: { readonly at: number; readonly unique: number } | null = null;
  let last = { at: startedAt, unique: 0, lagEvents: 0, lagS: 0 };
  while (!isOver && monotonicMs() < endsAt) {
    const [{ unique }, { lagEvents, lagS }] = await Promise.all([receiver.ask({ kind: "count" }), runtimeOf(subject)]);
    const at = monotonicMs();
    last = { at, unique, lagEvents, lagS };
    if (first === null && at > startedAt + WARM_UP * seconds * 1_000) first = last;
    if (first !== null) {
      lagEventsMax = Math.max(lagEventsMax, lagEvents);
      lagSMax = Math.max(lagSMax, lagS);
    }
    if (lagEvents <= LAG_EVENTS_MAX && lagS <= LAG_S_MAX) load.tell({ credit: unique + WINDOW });
    await sleep(LOOK_MS);
  }
  load.tell({ credit: 0 });
  const begun = first ?? { at: startedAt, unique: 0 };
  const outcome = await sending;
  const queuedAtEnd = await queuedOf(subject);
  const drainS = await drained(world, subject, outcome.accepted);
  const { unique, repeated, cpuShare } = await receiver.ask({ kind: "count" });
  return {
    perS: (last.unique - begun.unique) / ((last.at - begun.at) / 1_000),
    lagEventsMax,
    lagEventsAtEnd: last.lagEvents,
    lagSMax,
    lagSAtEnd: last.lagS,
    queuedAtEnd,
    drainS,
    delivered: unique,
    repeated,
    loadCpuShare: outcome.cpuShare,
    receiverCpuShare: cpuShare,
    rssMiB: (await runtimeOf(subject)).rssMiB,
  };
};

export type Arrival = {
  readonly rate: number;
  readonly admissionMs: Spread;
  readonly sentToArrivalMs: Spread;
  /** Milliseconds from the answer to the sender; 0 if the delivery was faster than that answer. */
  readonly admittedToArrivalMs: Spread;
  readonly late: number;
};

const between = (outcome: LoadOutcome, from: Float64Array, to: Float64Array): Spread =>
  spreadOf(
    Array.from({ length: outcome.sent }, (_, n) => Math.max(0, (to[n] ?? Number.NaN) - (from[n] ?? Number.NaN))),
  );

export const measureArrival = async (
  world: World,
  subject: Subject,
  rate: number,
  seconds: number,
): Promise<Arrival> => {
  const order = orderTo(subject, subject.deliverPath, { connections: OPEN_CONNECTIONS, seconds, rate });
  await world.receiver.ask({ kind: "begin", run: order.run, delayMs: 0 });
  const outcome = await sendLoad(world, order);
  await drained(world, subject, outcome.accepted);
  const { arrivals } = await world.receiver.ask({ kind: "arrivals" });
  return {
    rate,
    admissionMs: spreadOf(latencies(outcome)),
    sentToArrivalMs: between(outcome, outcome.sentAt, arrivals),
    admittedToArrivalMs: between(outcome, outcome.answeredAt, arrivals),
    late: outcome.late,
  };
};
