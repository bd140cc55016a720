import { suite } from "uvu";
import * as assert from "uvu/assert";
import { WINDOW_MS } from "../../../domain/endpoint/circuit.ts";
import { AttemptWindow } from "../../../src/delivery/attempt-window.ts";
import { at, START } from "../../support/history.ts";

const test = suite("what a node counts of its endpoints");

const world = (wellAt: string | null = null) => {
  const attempts = new AttemptWindow();
  const say =
    (succeeded: boolean) =>
    (second: number, startedSecond = second, well: string | null = wellAt) => {
      const [startedAt, endedAt] = [START + startedSecond * 1_000, START + second * 1_000];
      return attempts.count(well, { startedAt, at: endedAt, succeeded });
    };
  return { failed: say(false), succeeded: say(true) };
};

test("failures in a row are counted from the first, and end with a success", () => {
  const it = world();
  it.failed(1);
  assert.equal(it.failed(2), {
    consecutiveFailures: 2,
    failingSince: at(1),
    lastFailureAt: at(2),
    attempts: 2,
    failed: 2,
  });
  assert.equal(it.succeeded(3), {
    consecutiveFailures: 0,
    failingSince: null,
    lastFailureAt: at(2),
    attempts: 3,
    failed: 2,
  });
});

test("attempts older than five minutes count in the row of failures, but not in the rate", () => {
  const it = world();
  for (let second = 0; second < 5; second += 1) it.failed(second);
  it.failed(60);
  const window = WINDOW_MS / 1_000;
  assert.equal([it.failed(window - 1)?.attempts, it.failed(window)?.attempts], [7, 3]);
  const last = it.failed(10 * 3_600);
  assert.equal([last?.attempts, last?.failed, last?.consecutiveFailures, last?.failingSince], [1, 1, 9, at(0)]);
});

test("attempts from before the recovery do not count, and earlier counts are forgotten", () => {
  const it = world();
  for (let second = 0; second < 9; second += 1) it.failed(second);
  assert.is(it.failed(31, 19, at(20)), null);
  assert.equal(it.failed(32, 20, at(20))?.consecutiveFailures, 1);
});

test("a clock that is set back breaks nothing", () => {
  const it = world();
  it.failed(100);
  assert.equal([it.succeeded(50)?.attempts, it.failed(100)?.attempts], [2, 3]);
});

test("a failure counts on a clock that was set back to before the recovery", () => {
  const it = world();
  assert.is(it.failed(10, 9, at(3_600))?.consecutiveFailures, 1);
  assert.is(it.failed(11, 10, at(3_600))?.consecutiveFailures, 2);
});

test.run();
