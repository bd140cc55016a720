import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RETRY_AFTER_MAX_MS, retryAfterMs } from "../../../infra/http/retry-after.ts";

const test = suite("Retry-After");

const NOW = Date.parse("2026-03-01T12:00:00.000Z");

for (const [value, expected] of [
  ["0", 0],
  ["120", 120_000],
  [" 5 ", 5_000],
  ["007", 7_000],
  ["86400", RETRY_AFTER_MAX_MS],
  ["86401", RETRY_AFTER_MAX_MS],
  ["99999999999999999999999999", RETRY_AFTER_MAX_MS],
  ["0000000000000000000000000", 0],
  ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
  ["Sunday, 01-Mar-26 12:00:30 GMT", 30_000],
  ["Sun Mar  1 12:00:30 2026", 30_000],
  ["Sun, 01 Mar 2026 11:59:00 GMT", 0],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  ["Thu, 01 Jan 2099 00:00:00 GMT", RETRY_AFTER_MAX_MS],
  ["Sun, 01 Mar 2026 12:00:60 GMT", 59_000],
  ["", null],
  ["-1", null],
  ["1.5", null],
  ["1e3", null],
  ["0x10", null],
  ["5 seconds", null],
  ["soon", null],
  ["2026-03-01T12:00:30Z", null],
  ["Sun, 01 Mar 2026 12:00:30 CET", null],
  ["Sun, 31 Feb 2026 12:00:30 GMT", null],
  ["Sun, 01 Mar 2026 25:00:30 GMT", null],
  ["Xyz, 01 Mar 2026 12:00:30 GMT", null],
  ["10, 20", null],
] as const) {
  test(`"${value}" is ${expected}`, () => {
    assert.is(retryAfterMs(value, NOW), expected);
  });
}

test("a missing header is null", () => {
  assert.is(retryAfterMs(undefined, NOW), null);
});

test("any text gives a pause within the bounds or null", () => {
  const anything = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
  );
  fc.assert(
    fc.property(anything, (value) => {
      const ms = retryAfterMs(value, NOW);
      assert.ok(ms === null || (Number.isInteger(ms) && ms >= 0 && ms <= RETRY_AFTER_MAX_MS), `${value}: ${ms}`);
    }),
  );
});

test.run();
