import { Counter, Histogram, Registry } from "prom-client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { plainCounter, plainHistogram } from "../../../src/observability/plain-figures.ts";

const test = suite("plain counters and histograms");

const BOUNDS = [0.005, 0.1, 1, 10];
const HELP = 'What is counted, with a \\ and\na "second" line';
const VALUES = [0, 0.005, 0.0050001, 0.1, 0.3, 1, 9.999, 10, 10.1, 1e9];
const LABELS = [
  ["source", "admitted"],
  ["agent", 'a "quoted" \\ value'],
  ["source", "held"],
] as const;

test("a registry shows them as those of prom-client: names, help, types, buckets, labels and order", async () => {
  const [expected, actual] = [new Registry(), new Registry()];
  const registers = [expected];
  const labelNames = ["origin", "outcome"];
  const theirs = {
    counter: new Counter({ name: "a_total", help: HELP, labelNames, registers }),
    histogram: new Histogram({ name: "b_seconds", help: HELP, labelNames, buckets: BOUNDS, registers }),
    bare: new Histogram({ name: "c_size", help: HELP, buckets: BOUNDS, registers }),
    empty: new Histogram({ name: "d_size", help: HELP, labelNames, buckets: BOUNDS, registers }),
  };
  const ours = {
    counter: plainCounter(actual, { name: "a_total", help: HELP, labelNames }),
    histogram: plainHistogram(actual, { name: "b_seconds", help: HELP, labelNames }, BOUNDS),
    bare: plainHistogram(actual, { name: "c_size", help: HELP, labelNames: [] }, BOUNDS),
    empty: plainHistogram(actual, { name: "d_size", help: HELP, labelNames }, BOUNDS),
  };
  const same = async () => assert.is(await actual.metrics(), await expected.metrics());
  await same();
  theirs.histogram.zero({ origin: "system", outcome: "none" });
  ours.histogram.begin("system", "none");
  theirs.counter.inc({ origin: "system", outcome: "none" }, 0);
  ours.counter.add(0, "system", "none");
  await same();
  for (const [n, value] of VALUES.entries()) {
    const [origin, outcome] = LABELS[n % LABELS.length] ?? LABELS[0];
    theirs.counter.inc({ origin, outcome }, n);
    ours.counter.add(n, origin, outcome);
    theirs.histogram.observe({ origin, outcome }, value);
    ours.histogram.observe(value, origin, outcome);
    theirs.bare.observe(value);
    ours.bare.observe(value);
  }
  await same();
  assert.match(await actual.metrics(), 'b_seconds_bucket{le="+Inf",origin="source",outcome="admitted"} 4');
});

test.run();
