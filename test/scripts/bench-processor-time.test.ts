import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nsOfSchedstat, type ProcessorTime, spentMs, ticksOfStat } from "../../scripts/bench/processor-time.ts";
import { startFlags } from "../../scripts/bench/service-process.ts";

const test = suite("the benchmark's processor time");

const time = (threads: Readonly<Record<number, number>>, ticks: number): ProcessorTime => ({
  threads: new Map(Object.entries(threads).map(([id, ms]) => [Number(id), ms * 1e6])),
  ticks,
});

test("user and system time are found whatever the process is called", () => {
  const fields = "S 1 2 3 0 -1 4194304 2301 0 0 0 57 12 0 0 20 0 7 0 5296117";
  assert.is(ticksOfStat(`5064 (node) ${fields}`), 69);
  assert.is(ticksOfStat(`5064 (a) b (c 1 2) ${fields}`), 69);
});

test("the time on a processor is the first field of schedstat", () => {
  assert.is(nsOfSchedstat("67013640 71816402 40\n"), 67_013_640);
});

test("times of threads are added, including those of threads that began meanwhile", () => {
  assert.is(spentMs(time({ 1: 100, 2: 50 }, 15), time({ 1: 130, 2: 55, 3: 4 }, 19)), 39);
});

test("a thread that ended meanwhile is counted by the ticks, less what these may be wrong by", () => {
  assert.is(spentMs(time({ 1: 100, 2: 50 }, 15), time({ 1: 130 }, 115)), 980);
});

test("without schedstat the ticks are used, and time never runs backwards", () => {
  assert.is(spentMs(time({}, 10), time({}, 112)), 1_000);
  assert.is(spentMs(time({}, 10), time({}, 11)), 0);
  assert.is(spentMs(time({ 1: 100 }, 10), time({ 1: 90 }, 10)), 0);
});

test("node's flags are those of the checkout's start script", () => {
  const flagsOf = (start: string): readonly string[] => startFlags(JSON.stringify({ scripts: { start } }));
  assert.equal(flagsOf("npm run --silent build && node --max-semi-space-size=32 --x build/src/start.cjs"), [
    "--max-semi-space-size=32",
    "--x",
  ]);
  assert.equal(flagsOf("node build/src/start.cjs"), []);
  assert.throws(() => flagsOf("node build/src/main.js"), /no start script/);
  assert.throws(() => startFlags("{}"), /no start script/);
});

test.run();
