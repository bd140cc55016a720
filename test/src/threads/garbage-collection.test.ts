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

const textOf = (path: string): string => readFileSync(path, "utf8");

const STARTS: readonly string[] = [
  JSON.parse(textOf("package.json")).scripts.start,
  ...["infra/Dockerfile", "infra/systemd/countersign.service", "src/cli/serve.ts"].map(textOf),
];

test("the program is started so that each thread collects its own heap", () => {
  for (const text of STARTS) assert.match(text, "--single-threaded-gc");
  const traces = ["--trace-gc", "--trace-parallel-scavenge", "--trace-concurrent-marking"];
  const child = [...traces, "--expose-gc", "--single-threaded-gc", CHILD, "main"];
  const lines = execFileSync(process.execPath, child, { encoding: "utf8" }).split("\n");
  // V8 writes a line for each collection, one for each piece of it, and one for each helper that marks.
  const linesWith = (text: string): number => lines.filter((line) => line.includes(text)).length;
  assert.ok(linesWith(" Scavenge ") > 0 && linesWith(" Mark-Compact ") > 0, "objects were collected");
  assert.is(linesWith("scavenge["), linesWith(" Scavenge "));
  assert.is(linesWith("concurrent marking"), 0);
});

test("the program is started without flags for the sizes of heaps, which would override the limits of its threads", () => {
  for (const text of STARTS) {
    assert.match(text, "start.cjs");
    assert.not.match(text, /--max-|semi-space|old-space/);
  }
});

test.run();
