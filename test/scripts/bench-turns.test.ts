import { suite } from "uvu";
import * as assert from "uvu/assert";
import { againstBars } from "../../scripts/bench/against.ts";
import { type Bars, comparedOf, type PairOutcome, pairTable, type Round } from "../../scripts/bench/turns.ts";
import { ADMISSION, type Cost, DELIVERED, WORKLOADS, workloadsNamed } from "../../scripts/bench/workloads.ts";

const test = suite("the benchmark of two services in turns");

const cost = (perS: number, processorMs: number | null): Cost => ({ events: 1_000, perS, processorMs });

const rounds: readonly Round[] = [
  { without: cost(1_000, 0.5), with: cost(2_000, 0.2) },
  { without: cost(2_000, 0.4), with: cost(5_000, 0.2) },
  { without: cost(1_000, 1), with: cost(3_000, 0.3) },
];

const NO_BARS: Bars = { rateMin: null, processorMax: null };

const outcome = (...compared: PairOutcome["compared"]): PairOutcome => ({
  name: "this build",
  compared,
  rssWithoutMiB: 300,
  rssWithMiB: 310,
  disk: null,
});

test("a ratio is the median of the rounds' own ratios, with the smallest and the largest", () => {
  const { rate, processor, without, with: own } = comparedOf(ADMISSION, NO_BARS, rounds);
  assert.equal(rate, { median: 2.5, min: 2, max: 3, rounds: 3 });
  assert.equal(processor, { median: 0.4, min: 0.3, max: 0.5, rounds: 3 });
  assert.equal(without, { perS: 1_000, processorMs: 0.5 });
  assert.equal(own, { perS: 3_000, processorMs: 0.2 });
});

test("each ratio has its spread, and a missed bar is marked", () => {
  const text = pairTable(outcome(comparedOf(DELIVERED, againstBars(DELIVERED), rounds)));
  assert.match(text, /^\| delivered +\| 3,000\/s, without 1,000\/s +\| +\| +\|$/m);
  assert.match(text, /^\| +processor time of one +\| 200 µs, without 500 µs +\| +\| +\|$/m);
  assert.match(
    text,
    /^\| +processor time, ratio +\| 0\.40 x \(0\.30 to 0\.50, 3 rounds\) +\| at most 0\.45 x +\| MET +\|$/m,
  );
  const missed = pairTable(outcome(comparedOf(DELIVERED, { rateMin: 2.6, processorMax: 0.3 }, rounds)));
  assert.match(missed, /^\| +processor time, ratio .* at most 0\.3 x +\| MISSED +\|$/m);
  assert.match(
    missed,
    /^\| +rate, ratio +\| 2\.50 x \(2\.00 to 3\.00, 3 rounds\) +\| at least 2\.6 x +\| MISSED +\|$/m,
  );
});

test("bytes on disk are compared where one workload was measured", () => {
  const text = pairTable({ ...outcome(), disk: { without: 10_000, with: 4_000, max: 0.5 } });
  assert.match(text, /^\| bytes on disk an event +\| 4,000, without 10,000: 0\.40 x +\| at most 0\.5 x +\| MET \|$/m);
  assert.not.match(pairTable(outcome()), /bytes on disk/);
});

test("the rate of an open loop is given, so it is no result", () => {
  const light = WORKLOADS.find(({ rate }) => rate === 430);
  assert.ok(light !== undefined);
  assert.is(comparedOf(light, againstBars(light), rounds).rate, null);
  assert.equal(againstBars(light), { rateMin: null, processorMax: 0.6 });
  assert.equal(againstBars({ key: "light", rate: 100 }), NO_BARS);
});

test("processor times that a machine does not tell are left out", () => {
  const untold = rounds.map((round) => ({ without: { ...round.without, processorMs: null }, with: round.with }));
  assert.not.match(pairTable(outcome(comparedOf(ADMISSION, againstBars(ADMISSION), untold))), /processor/);
});

test("--only names the workloads to measure, and an unknown name is refused", () => {
  const named = (only: string): readonly string[] => workloadsNamed(only).map(({ name }) => name);
  assert.equal(named(""), ["admission", "delivered", "delivered at 100/s", "delivered at 430/s"]);
  assert.equal(named("light,admission"), ["admission", "delivered at 100/s", "delivered at 430/s"]);
  assert.throws(() => workloadsNamed("hang"), /takes admission, delivered and light, not hang/);
});

test.run();
