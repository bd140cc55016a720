import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  binOf,
  durationOf,
  merged,
  NO_DURATIONS,
  percentile,
  sizeOf,
  withDuration,
} from "../../projections/histogram.ts";

const test = suite("histogram");
const of = (values: readonly number[]) => values.reduce(withDuration, NO_DURATIONS);
const duration = fc.integer({ min: 0, max: 2 ** 31 - 1 });

test("small durations are exact, and every duration is within 6.25 % of its bin's middle", () => {
  for (let ms = 0; ms < 16; ms += 1) assert.is(durationOf(binOf(ms)), ms);
  fc.assert(
    fc.property(duration, (ms) => {
      assert.ok(Math.abs(durationOf(binOf(ms)) - ms) <= ms * 0.0625, `${ms} → ${durationOf(binOf(ms))}`);
    }),
  );
});

test("a longer duration is never in a lower bin", () => {
  fc.assert(fc.property(duration, duration, (a, b) => a > b || binOf(a) <= binOf(b)));
});

test("an invalid duration counts as zero or as the longest", () => {
  assert.is(binOf(Number.NaN), 0);
  assert.is(binOf(-5), 0);
  assert.is(binOf(Number.POSITIVE_INFINITY), binOf(2 ** 31 - 1));
});

test("the order in which durations come does not matter, nor whether they were counted together", () => {
  fc.assert(
    fc.property(fc.array(duration), fc.array(duration), (a, b) => {
      assert.equal(merged([of(a), of(b)]), of([...b, ...a]));
      assert.is(sizeOf(of(a)), a.length);
    }),
  );
});

test("percentiles are by nearest rank", () => {
  const hundred = of(Array.from({ length: 100 }, (_, i) => (i < 50 ? 4 : 12)));
  assert.is(percentile(hundred, 0.5), 4);
  assert.is(percentile(hundred, 0.51), 12);
  assert.is(percentile(hundred, 1), 12);
  assert.is(percentile(NO_DURATIONS, 0.5), null);
});

test.run();
