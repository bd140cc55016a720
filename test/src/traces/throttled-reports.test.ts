import { suite } from "uvu";
import * as assert from "uvu/assert";
import { throttledReports } from "../../../src/traces/throttled-reports.ts";
import { until } from "../../support/until.ts";

const test = suite("refusals of a collector");

test("the first refusal is reported at once, later ones together, with a count of all", async () => {
  const reported: { readonly message: string; readonly count: number }[] = [];
  const refuse = throttledReports(({ message }, count) => reported.push({ message, count }), 20);
  // The timer of the reports does not keep the process alive.
  const alive = setInterval(() => undefined, 1_000);
  for (let n = 1; n <= 500; n += 1) refuse(new Error(`no ${n}`), 2);
  assert.equal(reported, [{ message: "no 1", count: 2 }]);
  await until("the others are reported", () => reported.length === 2);
  assert.equal(reported[1], { message: "no 500", count: 998 });
  refuse(new Error("again"), 5);
  await until("the later one is reported", () => reported.length === 3);
  assert.equal(reported[2], { message: "again", count: 5 });
  clearInterval(alive);
});

test.run();
