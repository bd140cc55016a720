import { spawnSync } from "node:child_process";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("the options of the benchmark");

const BENCH = new URL("../../scripts/bench.js", import.meta.url).pathname;
const run = (...args: readonly string[]) => spawnSync(process.execPath, [BENCH, ...args], { encoding: "utf8" });

test("--help prints what can be measured, and measures nothing", () => {
  const { status, stdout, stderr } = run("--help");
  assert.equal([status, stderr], [0, ""]);
  for (const option of ["--quick", "--against DIR", "--growth", "--sealing", "--json FILE"])
    assert.ok(stdout.includes(option), option);
});

test("an unknown option is named above the usage, without a stack", () => {
  const { status, stdout, stderr } = run("--fast");
  assert.equal([status, stdout], [2, ""]);
  assert.match(stderr, /^Unknown option '--fast'/);
  assert.ok(stderr.includes("--quick"));
  assert.not.match(stderr, /\n\s+at /);
});

test.run();
