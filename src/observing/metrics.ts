import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { within } from "../../infra/within.ts";
import type { Progress } from "../loops/view-progress.ts";
import type { Observer } from "./observer.ts";

/** What is read when somebody scrapes, not counted while it happens. One that rejects leaves its figures out. */
export type Readings = {
  /** Of the parts of this process, whether each works. */
  readonly parts: () => Promise<Readonly<Record<string, boolean>>>;
  /** Rejects while nobody folds: how far the views were is then no figure. */
  readonly projections: () => Promise<readonly Pick<Progress, "view" | "lag_events" | "lag_s">[]>;
  readonly queue: () => Promise<QueueReading>;
  /** How many endpoints are in each state of health. */
  readonly endpoints: () => Promise<Readonly<Record<string, number>>>;
  readonly appends: () => AppendsReading;
};

/** Appends that have no answer yet: those of a disk that hangs are counted nowhere else. */
export type AppendsReading = {
  readonly count: number;
  /** Since the call of the oldest of them; 0 when there is none. */
  readonly oldestS: number;
};

export type QueueReading = {
  /** Events that wait for an attempt or are in one, up to a limit. */
  readonly depth: number;
  /** Since the admission of the oldest of them; 0 when nothing waits. */
  readonly oldestS: number;
};

export type Metrics = Observer & {
  /** One sync of the embedded log made so many appends durable. */
  grouped(appends: number): void;
  /** So many spans have reached the collector, or never will. */
  traced(spans: number, outcome: "exported" | "dropped"): void;
  /** The figures in Prometheus' text format 0.0.4. Those of a reading that fails are left out. */
  scrape(readings: Readings): Promise<string>;
  readonly contentType: string;
};

/** Milliseconds in a second: Prometheus counts in base units. */
const MS = 1_000;
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000];
/** Of the event loop's delay: each look wakes the process. */
const LOOP_LOOK_MS = 100;

/** Prometheus waits 10 s by default for all figures: a reading that hangs must not take the others with it. */
const READING_MS = 2_000;

const NO_ROUTE = "none";
const NO_GATE = "none";

const statusClass = (status: number): string => `${Math.floor(status / 100)}xx`;

/**
 * The service's figures. Labels are of small fixed sets (routes by their template, outcomes, gates, kinds of failure): an
 * account, an event or an endpoint is never one, so that nobody can be told apart and nothing grows with them.
 */
export const metrics = (about: { readonly version: string; readonly commit: string }): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS });

  const calls = new Histogram({
    name: "countersign_http_request_duration_seconds",
    help: "Requests answered, by the route's template",
    labelNames: ["route", "method", "status"],
    buckets: FAST,
    registers,
  });
  const decisions = new Counter({
    name: "countersign_decisions_total",
    help: "Requests decided, by outcome and the gate that refused",
    labelNames: ["origin", "outcome", "gate", "code"],
    registers,
  });
  const deciding = new Histogram({
    name: "countersign_decision_duration_seconds",
    help: "From a request's arrival to the durable verdict",
    labelNames: ["origin"],
    buckets: FAST,
    registers,
  });
  const attempts = new Histogram({
    name: "countersign_delivery_attempt_duration_seconds",
    help: "Attempts to deliver, by what came of them",
    labelNames: ["outcome"],
    buckets: ATTEMPT,
    registers,
  });
  const batches = new Histogram({
    name: "countersign_ledger_batch_size",
    help: "Commands that one append to a ledger decided",
    buckets: BATCH,
    registers,
  });
  const appends = new Histogram({
    name: "countersign_log_append_duration_seconds",
    help: "From an append's call to its durable answer",
    labelNames: ["outcome"],
    buckets: FAST,
    registers,
  });
  const groups = new Histogram({
    name: "countersign_log_group_size",
    help: "Appends that one sync of the embedded log made durable",
    buckets: BATCH,
    registers,
  });

  const build = new Gauge({
    name: "countersign_build_info",
    help: "1, with the build as labels",
    labelNames: ["version", "commit"],
    registers,
  });
  build.set({ version: about.version, commit: about.commit }, 1);
  const traced = new Counter({
    name: "countersign_trace_spans_total",
    help: "Spans that reached the collector, and those that it refused for good",
    labelNames: ["outcome"],
    registers,
  });

  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name: `countersign_${name}`, help, labelNames, registers });
  const parts = gauge("part_up", "1 where the part of this process works, else 0", "part");
  const lagEvents = gauge("projection_lag_events", "Events of the log that the view has not folded", "view");
  const lagSeconds = gauge("projection_lag_seconds", "The age of the oldest of them", "view");
  const depth = gauge("delivery_queue_events", "Events that wait for an attempt or are in one");
  const oldest = gauge("delivery_queue_oldest_seconds", "Since the oldest of them was admitted");
  const endpoints = gauge("endpoints", "Endpoints by the state of their health", "state");
  const waiting = gauge("log_appends_waiting", "Appends to the log that have no answer yet");
  const waitingOldest = gauge("log_appends_oldest_seconds", "Since the call of the oldest of them");

  /** Each by itself: figures of a part that is away are left out, and that is what an alert sees. */
  const refresh = async <T>(gauges: readonly Gauge[], read: () => T | Promise<T>, set: (reading: T) => void) => {
    try {
      const reading = await within(READING_MS, "a reading is late", Promise.resolve().then(read));
      for (const it of gauges) it.reset();
      set(reading);
    } catch {
      // Without labels a reset is to 0, which would be a figure.
      for (const it of gauges) {
        it.reset();
        it.remove();
      }
    }
  };

  const refreshAll = (readings: Readings): Promise<unknown> =>
    Promise.all([
      refresh([parts], readings.parts, (all) => {
        for (const [part, works] of Object.entries(all)) parts.set({ part }, works ? 1 : 0);
      }),
      refresh([lagEvents, lagSeconds], readings.projections, (views) => {
        for (const { view, lag_events, lag_s } of views) {
          lagEvents.set({ view }, lag_events);
          lagSeconds.set({ view }, lag_s);
        }
      }),
      refresh([depth, oldest], readings.queue, (queue) => {
        depth.set(queue.depth);
        oldest.set(queue.oldestS);
      }),
      refresh([endpoints], readings.endpoints, (states) => {
        for (const [state, count] of Object.entries(states)) endpoints.set({ state }, count);
      }),
      refresh([waiting, waitingOldest], readings.appends, (appends) => {
        waiting.set(appends.count);
        waitingOldest.set(appends.oldestS);
      }),
    ]);

  const scrape = async (readings: Readings): Promise<string> => {
    await refreshAll(readings);
    return registry.metrics();
  };
  let underWay: Promise<string> | null = null;

  return {
    answered: ({ route, method, status, ms }) =>
      calls.observe({ route: route ?? NO_ROUTE, method, status: statusClass(status) }, ms / MS),
    decided({ origin, outcome, gate, code, ms }) {
      decisions.inc({ origin, outcome, gate: gate ?? NO_GATE, code: code ?? NO_GATE });
      deciding.observe({ origin }, ms / MS);
    },
    attempted: ({ outcome, ms }) => attempts.observe({ outcome }, ms / MS),
    reserved: (batch) => batches.observe(batch),
    appended: (ms, outcome) => appends.observe({ outcome }, ms / MS),
    grouped: (size) => groups.observe(size),
    traced: (spans, outcome) => traced.inc({ outcome }, spans),
    contentType: registry.contentType,
    // Who comes meanwhile gets the same answer: a second reading would take the first one's figures away.
    scrape(readings) {
      underWay ??= scrape(readings).finally(() => {
        underWay = null;
      });
      return underWay;
    },
  };
};
