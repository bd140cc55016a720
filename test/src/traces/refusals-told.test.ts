import { suite } from "uvu";
import * as assert from "uvu/assert";
import { refusalsTold } from "../../../src/traces/refusals-told.ts";
import { until } from "../../support/until.ts";

const test = suite("what a collector refuses");

test("is told at once, then together in a while, with a count in which none is missing", async () => {
  const told: { readonly message: string; readonly count: number }[] = [];
  const refuse = refusalsTold(({ message }, count) => told.push({ message, count }), 20);
  // Its own timer keeps no process.
  const alive = setInterval(() => undefined, 1_000);
  for (let n = 1; n <= 500; n += 1) refuse(new Error(`no ${n}`), 2);
  assert.equal(told, [{ message: "no 1", count: 2 }]);
  await until("the others are told", () => told.length === 2);
  assert.equal(told[1], { message: "no 500", count: 998 });
  refuse(new Error("again"), 5);
  await until("what came later is told", () => told.length === 3);
  assert.equal(told[2], { message: "again", count: 5 });
  clearInterval(alive);
});

test.run();
