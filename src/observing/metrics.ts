import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Progress } from "../loops/view-progress.ts";
import type { Observer } from "./observer.ts";

/** What is read when somebody scrapes, not counted while it happens. */
export type Readings = {
  readonly projections: () => Promise<readonly Pick<Progress, "view" | "lag_events" | "lag_s">[]>;
  readonly queue: () => Promise<QueueReading>;
  /** How many endpoints this process knows to be in each state of health. */
  readonly endpoints: () => Readonly<Record<string, number>>;
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
  const lagEvents = new Gauge({
    name: "countersign_projection_lag_events",
    help: "Events of the log that the view has not folded",
    labelNames: ["view"],
    registers,
  });
  const lagSeconds = new Gauge({
    name: "countersign_projection_lag_seconds",
    help: "The age of the oldest of them",
    labelNames: ["view"],
    registers,
  });
  const depth = new Gauge({
    name: "countersign_delivery_queue_events",
    help: "Events that wait for an attempt or are in one",
    registers,
  });
  const oldest = new Gauge({
    name: "countersign_delivery_queue_oldest_seconds",
    help: "Since the oldest of them was admitted",
    registers,
  });
  const endpoints = new Gauge({
    name: "countersign_endpoints",
    help: "Endpoints that this process delivers to, by the state of their health",
    labelNames: ["state"],
    registers,
  });

  /** Each by itself: figures of a part that is away are left out, and that is what an alert sees. */
  const readProjections = async ({ projections }: Readings): Promise<void> => {
    lagEvents.reset();
    lagSeconds.reset();
    for (const { view, lag_events, lag_s } of await projections()) {
      lagEvents.set({ view }, lag_events);
      lagSeconds.set({ view }, lag_s);
    }
  };
  const readQueue = async ({ queue }: Readings): Promise<void> => {
    depth.remove();
    oldest.remove();
    const reading = await queue();
    depth.set(reading.depth);
    oldest.set(reading.oldestS);
  };
  const readEndpoints = async (readings: Readings): Promise<void> => {
    endpoints.reset();
    for (const [state, count] of Object.entries(readings.endpoints())) endpoints.set({ state }, count);
  };

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
    contentType: registry.contentType,
    async scrape(readings) {
      await Promise.allSettled([readProjections(readings), readQueue(readings), readEndpoints(readings)]);
      return registry.metrics();
    },
  };
};
