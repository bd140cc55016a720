import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Beside, besideTable } from "../../scripts/bench/beside.ts";

const test = suite("the benchmark of what must not be in the way");

const beside = (rateRatio: number, workRatio: number | null): Beside => ({
  name: "traces, to a collector that hangs",
  ...{ withoutPerS: 2_000, withPerS: 2_000 * rateRatio, rateRatio, workRatio, rssWithoutMiB: 300, rssWithMiB: 310 },
});

test("each ratio has its bar, and what misses it is marked", () => {
  const text = besideTable([beside(0.97, 0.9)]);
  assert.match(text, /^\| traces, to a collector that hangs +\| 1,940\/s, without 2,000\/s +\| +\| +\|$/m);
  assert.match(text, /^\| +rate +\| 0\.97 x +\| at least 0\.95 x \| ok +\|$/m);
  assert.match(text, /^\| +admissions of a processor's time +\| 0\.90 x +\| at least 0\.95 x \| MISSED \|$/m);
});

test("what a machine cannot measure is left out", () => {
  assert.not.match(besideTable([beside(1, null)]), /processor/);
});

test.run();
