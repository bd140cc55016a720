import { suite } from "uvu";
import * as assert from "uvu/assert";
import { selfTimeTable } from "../../scripts/bench/profile.ts";
import { type CpuProfile, selfTimesOf, shareOf } from "../../scripts/bench/self-times.ts";

const test = suite("the benchmark's profiles");

const frame = (id: number, functionName: string, url = "", lineNumber = -1) => ({
  id,
  callFrame: { functionName, url, lineNumber },
});

const profile: CpuProfile = {
  nodes: [
    frame(1, "(root)"),
    frame(2, "(idle)"),
    frame(3, "fold", "file:///app/build/src/fold.js", 9),
    frame(4, "", "file:///app/build/src/fold.js", 9),
    // The same function called by another one has another node.
    frame(5, "fold", "file:///app/build/src/fold.js", 9),
  ],
  samples: [3, 2, 5, 4, 3],
  timeDeltas: [900, 2_000, 7_000, 3_000, 1_000],
};

test("a function's own time is added over all its callers, and idle time is left out", () => {
  const { busyMs, functions } = selfTimesOf(profile, "/app/");
  assert.is(busyMs, 6);
  assert.equal(functions, [
    { name: "fold", place: "build/src/fold.js:10", ms: 5 },
    { name: "(anonymous)", place: "build/src/fold.js:10", ms: 1 },
  ]);
});

test("each thread has a table with its longest functions first", () => {
  const [head, , first, second] = selfTimeTable("2-writer", selfTimesOf(profile, "/app/")).split("\n");
  assert.match(head ?? "", /^\| 2-writer: 6\.00 ms not idle \| self ms/);
  assert.match(first ?? "", /^\| fold +\| 5\.00 +\| 83\.3 \| build\/src\/fold\.js:10 \|$/);
  assert.match(second ?? "", /^\| \(anonymous\) +\| 1\.00 +\| 16\.7 \|/);
});

test("a thread that was only idle has an empty table", () => {
  assert.is(selfTimesOf({ ...profile, samples: [2], timeDeltas: [5] }, "/app/").functions.length, 0);
});

test("a share is of the time in which something ran, and counts all that a file's functions call", () => {
  const [root, idle, first, second, third] = profile.nodes;
  const called: CpuProfile = {
    ...profile,
    nodes: [root, idle, { ...first, children: [4] }, second, third, frame(6, "(garbage collector)")].flatMap((node) =>
      node?.id === undefined || node.callFrame === undefined
        ? []
        : [{ ...node, id: node.id, callFrame: node.callFrame }],
    ),
    samples: [3, 2, 4, 6, 5, 3],
    // Of 4 ms that are not idle or the collector's, node 3 and what it calls has 3.
    timeDeltas: [0, 1_000, 9_000, 2_000, 5_000, 1_000],
  };
  const named = {
    ...called,
    nodes: called.nodes.map((node) =>
      node.id === 5 ? { ...node, callFrame: { ...node.callFrame, url: "other.js" } } : node,
    ),
  };
  assert.is(
    shareOf(named, (url) => url.endsWith("fold.js")),
    0.75,
  );
  assert.is(
    shareOf(named, () => false),
    0,
  );
});

test.run();
