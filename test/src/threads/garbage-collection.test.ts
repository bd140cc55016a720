import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("the collection of garbage");

const CHILD = new URL("./garbage-collection-child.js", import.meta.url).pathname;

/** With these flags V8 collects at the limit and not some time after it, so that the figure is the same on each machine. */
const FLAGS = ["--expose-gc", "--single-threaded-gc", "--no-incremental-marking"];

const growthOf = (thread: "main" | "worker"): number =>
  Number(execFileSync(process.execPath, [...FLAGS, CHILD, thread], { encoding: "utf8" }));

test("a heap is collected before it is twice what is alive, in the main thread and in others", () => {
  for (const thread of ["main", "worker"] as const) {
    const times = growthOf(thread);
    assert.ok(times < 2, `${thread}: ${times} times`);
  }
});

test("a collection of young objects is one piece of work, which is not shared among threads", () => {
  const traces = ["--expose-gc", "--trace-gc", "--trace-parallel-scavenge"];
  const lines = execFileSync(process.execPath, [...traces, CHILD, "young"], { encoding: "utf8" }).split("\n");
  // V8 writes a line for each collection, and one for each of its pieces.
  const collections = lines.filter((line) => line.includes(" Scavenge ")).length;
  const pieces = lines.filter((line) => line.includes("scavenge[")).length;
  assert.ok(collections > 0, "objects were collected");
  assert.is(pieces, collections);
});

test("the program is started without flags for heaps, which would override the limits of its threads", () => {
  const read = (path: string): string => readFileSync(path, "utf8");
  const { start } = JSON.parse(read("package.json")).scripts;
  for (const text of [
    start,
    ...["infra/Dockerfile", "infra/systemd/countersign.service", "src/cli/serve.ts"].map(read),
  ]) {
    assert.match(text, "start.cjs");
    assert.not.match(text, /--max-|semi-space|old-space/);
  }
});

test.run();
