import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Observer } from "./observer.ts";
import { plainCounter, plainHistogram } from "./plain-figures.ts";
import { type Readings, readFigures } from "./readings.ts";

export type Metrics = Observer & {
  grouped(appends: number): void;
  /** Spans that are "dropped" never reach the collector. */
  traced(spans: number, outcome: "exported" | "dropped"): void;
  witnessAsked(witness: string, outcome: "cosigned" | "failed"): void;
  scrape(readings: Readings): Promise<string>;
  readonly contentType: string;
};

const MS = 1_000;
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000];
/**
 * The delay of the event loop is sampled this rarely, because each sample wakes the process. No delay of half a second
 * is missed, which is what the alert is about.
 */
const LOOP_LOOK_MS = 500;

/** Gauges of prom-client with a counter's name, which Prometheus' linter refuses. Its figures by type say the same. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

const NO_ROUTE = "none";
const NO_GATE = "none";

const statusClass = (status: number): string => `${Math.floor(status / 100)}xx`;

type Counted = Omit<Metrics, "scrape" | "contentType">;

const counted = (registry: Registry): Counted => {
  const histogram = (name: string, help: string, bounds: readonly number[], ...labelNames: readonly string[]) =>
    plainHistogram(registry, { name: `countersign_${name}`, help, labelNames }, bounds);
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    plainCounter(registry, { name: `countersign_${name}`, help, labelNames });

  const answers = "Requests answered, by the route's template";
  const calls = histogram("http_request_duration_seconds", answers, FAST, "route", "method", "status");
  const verdicts = "Requests decided, by outcome and the gate that refused";
  const decisions = counter("decisions_total", verdicts, "origin", "outcome", "gate", "code");
  const untilVerdict = "From a request's arrival to the durable verdict";
  const deciding = histogram("decision_duration_seconds", untilVerdict, FAST, "origin");
  const sent = "Attempts to deliver, by what came of them";
  const attempts = histogram("delivery_attempt_duration_seconds", sent, ATTEMPT, "outcome");
  const refusedCalls = "Calls refused and recorded, by the problem's code; whose is nobody where no account is known";
  const refusals = counter("refused_calls_total", refusedCalls, "problem", "whose");
  const batches = histogram("ledger_batch_size", "Commands that one append to a ledger decided", BATCH);
  const untilDurable = "From an append's call to its durable answer";
  const appends = histogram("log_append_duration_seconds", untilDurable, FAST, "outcome");
  const groups = histogram("log_group_size", "Appends that one sync of the embedded log made durable", BATCH);
  const spanOutcomes = "Spans that reached the collector, and those that it refused for good";
  const spans = counter("trace_spans_total", spanOutcomes, "outcome");
  const asked = "Checkpoints submitted to a witness, by what came of them";
  const witnessCalls = counter("witness_calls_total", asked, "witness", "outcome");
  // These series start at 0, so that the first failure shows as a rise, for which an alert can be set.
  attempts.begin("succeeded");
  for (const outcome of ["appended", "failed"]) appends.begin(outcome);
  for (const outcome of ["exported", "dropped"]) spans.add(0, outcome);

  return {
    answered: ({ route, method, status, ms }) => calls.observe(ms / MS, route ?? NO_ROUTE, method, statusClass(status)),
    decided({ origin, outcome, gate, code, ms }) {
      decisions.add(1, origin, outcome, gate ?? NO_GATE, code ?? NO_GATE);
      deciding.observe(ms / MS, origin);
    },
    attempted: ({ outcome, ms }) => attempts.observe(ms / MS, outcome),
    refused: (problem, whose) => refusals.add(1, problem, whose),
    reserved: (batch) => batches.observe(batch),
    appended: (ms, outcome, count) => appends.observeMany(count, ms / MS, outcome),
    grouped: (size) => groups.observe(size),
    traced: (count, outcome) => spans.add(count, outcome),
    witnessAsked: (witness, outcome) => witnessCalls.add(1, witness, outcome),
  };
};

/** Labels have few values and never name an account, event or endpoint, so that they identify no customer. */
export const metrics = ({ version, commit }: { readonly version: string; readonly commit: string }): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const about = { help: "1, with the build as labels", labelNames: ["version", "commit"], registers: [registry] };
  new Gauge({ name: "countersign_build_info", ...about }).set({ version, commit }, 1);
  const read = readFigures(registry);
  const scrape = async (readings: Readings): Promise<string> => {
    await read(readings);
    return registry.metrics();
  };
  let underWay: Promise<string> | null = null;

  return {
    ...counted(registry),
    contentType: registry.contentType,
    // Simultaneous scrapes share one answer, because a second reading would clear the figures of the first.
    scrape(readings) {
      underWay ??= scrape(readings).finally(() => {
        underWay = null;
      });
      return underWay;
    },
  };
};
