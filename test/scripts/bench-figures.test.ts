import { suite } from "uvu";
import * as assert from "uvu/assert";
import { spreadOf } from "../../scripts/bench/spread.ts";
import { amount, figures, table } from "../../scripts/bench/table.ts";

const test = suite("the benchmark's figures");

test("a percentile is the smallest value that so many do not exceed", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.equal(spreadOf(hundred), { count: 100, p50: 50, p95: 95, p99: 99, max: 100 });
});

test("of a single value every percentile is that value", () => {
  assert.equal(spreadOf([7]), { count: 1, p50: 7, p95: 7, p99: 7, max: 7 });
});

test("values that were never measured are left out, and no values give zeros", () => {
  assert.equal(spreadOf([Number.NaN, 3, Number.NaN, 1]), { count: 2, p50: 1, p95: 3, p99: 3, max: 3 });
  assert.equal(spreadOf([Number.NaN]), { count: 0, p50: 0, p95: 0, p99: 0, max: 0 });
});

test("three digits are shown of a small amount, and whole numbers of a large one", () => {
  assert.equal([0.276, 1.5, 12.34, 12_345.6].map(amount), ["0.28", "1.50", "12.3", "12,346"]);
});

test("a table's columns are as wide as their widest cell", () => {
  const text = table(["a", "long head"], [["wide cell", "1"], ["x"]]);
  assert.equal(text.split("\n"), [
    "| a         | long head |",
    "|-----------|-----------|",
    "| wide cell | 1         |",
    "| x         |           |",
  ]);
});

test("a figure that misses its bar says so, and one without a bar says nothing", () => {
  const text = figures([
    { name: "rate", value: "9", bar: "at least 10", isMet: false },
    { name: "wait", value: "1", bar: "at most 2", isMet: true },
    { name: "size", value: "5" },
  ]);
  const [, , rate = "", wait = "", size = ""] = text.split("\n");
  assert.match(rate, /\| MISSED \|$/);
  assert.match(wait, /\| MET {4}\|$/);
  assert.match(size, /^\| size +\| 5 +\| +\| +\|$/);
});

test.run();
