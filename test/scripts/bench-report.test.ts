import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Measured } from "../../scripts/bench/measured.ts";
import { printed } from "../../scripts/bench/report.ts";
import { spreadOf } from "../../scripts/bench/spread.ts";

const test = suite("the benchmark's report");

const timesMs = spreadOf([1, 2, 3]);

const measured = (log: string, perS: number, notes: readonly string[] = []): Measured => ({
  engines: { log, views: "sqlite", feed: "none" },
  notes,
  echo: { perS: 20_000, loadCpuShare: 0.5, processorMs: 0.03 },
  keptPerS: 10_000,
  keptMs: 0.03,
  floorPerS: 6_667,
  admission: { perS, latencyMs: timesMs, processorMs: null, loadCpuShare: 0.1, rssMiB: 200 },
  sustained: {
    perS: perS / 2,
    lagEventsMax: 1,
    lagEventsAtEnd: 0,
    lagSMax: 0.25,
    lagSAtEnd: 0,
    queuedAtEnd: 0,
    drainS: 1,
    delivered: 10,
    repeated: 0,
    loadCpuShare: 0.1,
    receiverCpuShare: 0.1,
    rssMiB: 200,
  },
  halfLoad: { rate: perS / 2, latencyMs: timesMs, late: 0 },
  arrival: { rate: perS / 4, admissionMs: timesMs, sentToArrivalMs: timesMs, admittedToArrivalMs: timesMs, late: 0 },
  usualArrival: { rate: 430, admissionMs: timesMs, sentToArrivalMs: timesMs, admittedToArrivalMs: timesMs, late: 0 },
  costs: {
    admission: { full: 0.12, at430: 0.6, at100: 1.2 },
    delivered: { full: 0.3, at430: 1.5, at100: null },
  },
  split: {
    unfolded: { perS: perS * 2, latencyMs: timesMs, processorMs: null, loadCpuShare: 0.1, rssMiB: 200 },
    folded: { full: 0.06, at430: 0.06, at100: 0.06 },
  },
  idlePercent: 0.5,
  crash: { inFlight: 32, startS: 1, nodeS: 0.05, firstAgainS: 1.5, allAgainS: 2 },
  growth: [],
});

const report = (...of: readonly Measured[]): string =>
  printed({ at: "2026-01-01T00:00:00.000Z", node: "20.20.2", cores: 2, loadAverage: [0, 0], measured: of });

test("the table names the measured engines, with notes about them", () => {
  const text = report(measured("eventstoredb", 1_000, ["The log is a double."]));
  assert.match(text, /^Engines: log eventstoredb, views sqlite, feed none\.\nThe log is a double\.$/m);
  assert.match(text, /^\| I {2}bare appends of both records, eventstoredb +\| 10,000\/s/m);
  assert.match(text, /^\| {4}lag of the views, most \/ at the end +\| 0\.25 \/ 0\.00 s/m);
  assert.not.match(text, /ratio/);
});

test("processor times are given at three loads, with their multiple of the bare floor of the same run", () => {
  const text = report(measured("sqlite", 4_000));
  assert.match(text, /^\| F {2}bare echo \+ bare appends +\| 60\.0 µs: 30\.0 µs \+ 30\.0 µs \|/m);
  assert.match(text, /^\| admission, folded +\| 120 µs, 2\.00 x +\| 600 µs, 10\.0 x +\| 1,200 µs, 20\.0 x \|$/m);
  assert.match(text, /^\| event, admitted, delivered, folded +\| 300 µs, 5\.00 x +\| 1,500 µs, 25\.0 x +\| +\|$/m);
  assert.match(text, /^\| +its folding alone, in a process of its own +\| 60\.0 µs, 1\.00 x/m);
});

test("a system that does not tell processor times has no table of them", () => {
  assert.not.match(report({ ...measured("sqlite", 4_000), keptMs: null }), /processor time of one, and/);
});

test("the bar of A with the projector stopped is higher than that of A with views folding", () => {
  const text = report(measured("sqlite", 2_800));
  assert.match(text, /^\| A\/F +\| 0\.42 +\| at least 0\.60 +\| MISSED \|$/m);
  assert.match(text, /^\| +A\/F with the projector stopped +\| 0\.84 +\| at least 0\.80 +\| MET +\|$/m);
});

test("Node's own start does not count against a start after a crash", () => {
  assert.match(report(measured("sqlite", 1)), /^\| +without Node's own start +\| 0\.95 s +\| at most 1\.00 s +\| MET/m);
});

test("two sets of engines are shown side by side with their ratio", () => {
  const text = report(measured("sqlite", 4_000), measured("eventstoredb", 1_000));
  assert.match(text, /^\| figure +\| sqlite, sqlite \| eventstoredb, sqlite \| ratio {2}\|$/m);
  assert.match(text, /^\| A {2}admitted, closed loop, \/s +\| 4,000 +\| 1,000 +\| 0\.25 x \|$/m);
  assert.match(text, /^\| +processor time of one delivered, ms +\| 0\.30 +\| 0\.30 +\| 1\.00 x \|$/m);
});

test.run();
