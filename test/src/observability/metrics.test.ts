import { suite } from "uvu";
import * as assert from "uvu/assert";
import { observers } from "../../../src/observability/log-lines.ts";
import { type Metrics, metrics } from "../../../src/observability/metrics.ts";
import type { Readings } from "../../../src/observability/readings.ts";

const test = suite("metrics");

const readings = (over: Partial<Readings> = {}): Readings => ({
  parts: async () => ({ log: true, feed: false }),
  projections: async () => [{ view: "events.v3", lag_events: 3, lag_s: 0.5 }],
  queue: async () => ({ depth: 7, oldestS: 12 }),
  endpoints: async () => ({ healthy: 2, open: 0 }),
  appends: () => ({ count: 1, oldestS: 0.25 }),
  ...over,
});
const away = async (): Promise<never> => {
  throw new Error("away");
};

const made = (): Metrics => metrics({ version: "1.2.3", commit: "abc" });
const linesOf = async (meters: Metrics, over: Partial<Readings> = {}): Promise<readonly string[]> =>
  (await meters.scrape(readings(over))).split("\n");
/** The series of a figure, without `# HELP` and `# TYPE`. */
const series = (lines: readonly string[], metric: string): readonly string[] =>
  lines.filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`));

test("reports are counted in seconds, by labels with small fixed sets of values", async () => {
  const meters = made();
  meters.answered({ method: "GET", route: "/v1/events/:id", status: 404, ms: 2 });
  meters.answered({ method: "GET", route: null, status: 404, ms: 2 });
  const decision = { trace_id: "t", id: "evt_1", origin: "source", gate: null, code: null, ms: 4 } as const;
  meters.decided({ ...decision, outcome: "admitted" });
  meters.decided({ ...decision, outcome: "blocked", gate: "rate", code: "rate-reached" });
  const attempt = { trace_id: "t", event_id: "evt_1", endpoint_id: "end_1", number: 1, status_code: 200, ms: 40 };
  meters.attempted({ ...attempt, outcome: "succeeded" });
  meters.attempted({ ...attempt, outcome: "http-5xx" });
  meters.reserved(16);
  meters.appended(3, "appended", 2);
  meters.grouped(2);
  meters.traced(6, "exported");
  const lines = await linesOf(meters);
  const has = (line: string) => assert.ok(lines.includes(line), line);
  has('countersign_http_request_duration_seconds_count{route="/v1/events/:id",method="GET",status="4xx"} 1');
  has('countersign_http_request_duration_seconds_sum{route="none",method="GET",status="4xx"} 0.002');
  has('countersign_decisions_total{origin="source",outcome="admitted",gate="none",code="none"} 1');
  has('countersign_decisions_total{origin="source",outcome="blocked",gate="rate",code="rate-reached"} 1');
  has('countersign_decision_duration_seconds_sum{origin="source"} 0.008');
  has('countersign_delivery_attempt_duration_seconds_count{outcome="http-5xx"} 1');
  has('countersign_ledger_batch_size_bucket{le="16"} 1');
  has('countersign_log_append_duration_seconds_bucket{le="0.0025",outcome="appended"} 0');
  has('countersign_log_append_duration_seconds_bucket{le="0.005",outcome="appended"} 2');
  has('countersign_log_append_duration_seconds_sum{outcome="appended"} 0.006');
  has("countersign_log_group_size_sum 2");
  has('countersign_trace_spans_total{outcome="exported"} 6');
  has('countersign_build_info{version="1.2.3",commit="abc"} 1');
  assert.not.match(lines.join("\n"), /evt_1|end_1/);
});

test("a reading shows the current state, without labels that are gone", async () => {
  const meters = made();
  assert.equal(series(await linesOf(meters), "countersign_part_up"), [
    'countersign_part_up{part="log"} 1',
    'countersign_part_up{part="feed"} 0',
  ]);
  const lines = await linesOf(meters, { parts: async () => ({ log: false }) });
  assert.equal(series(lines, "countersign_part_up"), ['countersign_part_up{part="log"} 0']);
  assert.equal(
    ["countersign_delivery_queue_events", "countersign_delivery_queue_oldest_seconds"].map((it) => series(lines, it)),
    [["countersign_delivery_queue_events 7"], ["countersign_delivery_queue_oldest_seconds 12"]],
  );
  assert.equal(series(lines, "countersign_projection_lag_seconds"), [
    'countersign_projection_lag_seconds{view="events.v3"} 0.5',
  ]);
  assert.equal(series(lines, "countersign_log_appends_oldest_seconds"), [
    "countersign_log_appends_oldest_seconds 0.25",
  ]);
  assert.equal(series(lines, "countersign_endpoints"), [
    'countersign_endpoints{state="healthy"} 2',
    'countersign_endpoints{state="open"} 0',
  ]);
});

test("a failing reading leaves out only its own figures, from the first scrape on", async () => {
  const figures = [
    ["projections", "countersign_projection_lag_events", "countersign_projection_lag_seconds"],
    ["queue", "countersign_delivery_queue_events", "countersign_delivery_queue_oldest_seconds"],
    ["endpoints", "countersign_endpoints"],
    ["parts", "countersign_part_up"],
  ] as const;
  const all = figures.flatMap(([, ...own]) => own);
  for (const [reading, ...own] of figures) {
    const meters = made();
    const missing = (lines: readonly string[]) => all.filter((metric) => series(lines, metric).length === 0);
    assert.equal(missing(await linesOf(meters, { [reading]: away })), own);
    assert.equal(missing(await linesOf(meters)), []);
    assert.equal(missing(await linesOf(meters, { [reading]: away })), own);
  }
});

test("a reading that hangs is left out, and the rest is answered", async () => {
  const lines = await linesOf(made(), { queue: () => new Promise(() => undefined) });
  assert.equal(series(lines, "countersign_delivery_queue_events"), []);
  assert.is(series(lines, "countersign_part_up").length, 2);
});

test("two simultaneous scrapes share one reading", async () => {
  const meters = made();
  let reads = 0;
  const queue = async () => {
    reads += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return { depth: 7, oldestS: 12 };
  };
  const both = await Promise.all([linesOf(meters, { queue }), linesOf(meters, { queue })]);
  assert.is(reads, 1);
  for (const lines of both) assert.is(series(lines, "countersign_delivery_queue_events").length, 1);
  await linesOf(meters, { queue });
  assert.is(reads, 2);
});

test("the process and its event loop have figures, and a second service in the process has its own", async () => {
  const [one, other] = [made(), made()];
  one.reserved(4);
  const lines = await linesOf(other);
  assert.ok(lines.includes("countersign_ledger_batch_size_count 0"));
  for (const metric of ["nodejs_eventloop_lag_p99_seconds", "process_resident_memory_bytes"]) {
    assert.is(series(lines, metric).length, 1, metric);
  }
});

test("the figures for alerts are there and 0 from the start", async () => {
  const lines = await linesOf(made());
  for (const line of [
    'countersign_delivery_attempt_duration_seconds_count{outcome="succeeded"} 0',
    'countersign_log_append_duration_seconds_count{outcome="failed"} 0',
    'countersign_trace_spans_total{outcome="dropped"} 0',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test("every observer gets the reports that it has a method for", () => {
  const told: string[] = [];
  const all = observers(
    { reserved: () => told.push("a") },
    { appended: () => told.push("b") },
    { reserved: () => told.push("c") },
  );
  all.reserved(1);
  all.appended(1, "appended", 1);
  all.answered({ method: "GET", route: null, status: 200, ms: 1 });
  assert.equal(told, ["a", "c", "b"]);
});

test("only counters are named like counters", async () => {
  const types = [...(await linesOf(made())).join("\n").matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name,
    type,
  }));
  assert.ok(types.some(({ name }) => name === "process_cpu_seconds_total"));
  assert.equal(
    types.filter(({ name = "", type }) => name.endsWith("_total") !== (type === "counter")),
    [],
  );
});

test.run();
