import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nextAttemptAt } from "../../../domain/delivery/retry.ts";

const test = suite("retry schedule");

test("each delay stays within a fifth of the schedule's", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999_999, noNaN: true }), (random) => {
      const at = nextAttemptAt([5, 30], 2, 1_000, random, null) ?? 0;
      assert.ok(at >= 1_000 + 24_000 && at <= 1_000 + 36_001, `${at}`);
    }),
  );
});
test("behind the last delay there is no attempt", () => assert.is(nextAttemptAt([5, 30], 3, 0, 0.5, null), null));
test("an empty schedule tries once", () => assert.is(nextAttemptAt([], 1, 0, 0.5, 1_000), null));
test("a later Retry-After is honoured, an earlier one is not", () => {
  assert.is(nextAttemptAt([5], 1, 0, 0.5, 60_000), 60_000);
  assert.is(nextAttemptAt([5], 1, 0, 0.5, 1_000), 5_000);
});

test.run();
