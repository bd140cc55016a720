import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nextAttemptAt } from "../../../domain/delivery/retry.ts";

const test = suite("retry schedule");

test("each delay stays within a fifth of the schedule's", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999_999, noNaN: true }), (random) => {
      const at = nextAttemptAt([5, 30], { number: 2, atMs: 1_000, retryAfterMs: null }, random) ?? 0;
      assert.ok(at >= 1_000 + 24_000 && at <= 1_000 + 36_001, `${at}`);
    }),
  );
});
test("no attempt follows the last delay", () => {
  assert.is(nextAttemptAt([5, 30], { number: 3, atMs: 0, retryAfterMs: null }, 0.5), null);
});
test("an empty schedule tries once", () => {
  assert.is(nextAttemptAt([], { number: 1, atMs: 0, retryAfterMs: 1_000 }, 0.5), null);
});
test("a later Retry-After is honoured, an earlier one is not", () => {
  assert.is(nextAttemptAt([5], { number: 1, atMs: 0, retryAfterMs: 60_000 }, 0.5), 60_000);
  assert.is(nextAttemptAt([5], { number: 1, atMs: 0, retryAfterMs: 1_000 }, 0.5), 5_000);
});

test.run();
