import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Beside, besideTable, type Ratio } from "../../scripts/bench/beside.ts";

const test = suite("the benchmark of what must not be in the way");

const around = (median: number): Ratio => ({ median, min: median - 0.1, max: median + 0.1, rounds: 12 });

const beside = (rate: number, work: number | null): Beside => ({
  name: "traces, to a collector that hangs",
  ...{ withoutPerS: 2_000, withPerS: 2_000 * rate, rssWithoutMiB: 300, rssWithMiB: 310 },
  rateRatio: around(rate),
  workRatio: work === null ? null : around(work),
});

test("each ratio has its spread and its bar, and a missed bar is marked", () => {
  const text = besideTable([beside(0.97, 0.9)]);
  assert.match(text, /^\| traces, to a collector that hangs +\| 1,940\/s, without 2,000\/s +\| +\| +\|$/m);
  assert.match(text, /^\| +rate +\| 0\.97 x \(0\.87 to 1\.07 in 12 rounds\) +\| at least 0\.95 x \| ok +\|$/m);
  assert.match(
    text,
    /^\| +admissions of a processor's time +\| 0\.90 x \(0\.80 to 1\.00 in 12 rounds\) +\| at least 0\.95 x \| MISSED \|$/m,
  );
});

test("figures that a machine cannot measure are left out", () => {
  assert.not.match(besideTable([beside(1, null)]), /processor/);
});

test.run();
