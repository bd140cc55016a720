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
  echo: { perS: 20_000, loadCpuShare: 0.5 },
  keptPerS: 10_000,
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
  idlePercent: 0.5,
  crash: { inFlight: 32, startS: 1, firstAgainS: 1.5, allAgainS: 2 },
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

test("two sets of engines are shown side by side with their ratio", () => {
  const text = report(measured("sqlite", 4_000), measured("eventstoredb", 1_000));
  assert.match(text, /^\| figure +\| sqlite, sqlite \| eventstoredb, sqlite \| ratio {2}\|$/m);
  assert.match(text, /^\| A {2}admitted, closed loop, \/s +\| 4,000 +\| 1,000 +\| 0\.25 x \|$/m);
  // What this machine cannot measure is left out.
  assert.not.match(text, /processor time of one, ms/);
});

test.run();
