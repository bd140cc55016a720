import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dayIn, daysLater, monthEnd, monthOf, untilMidnight } from "../../domain/calendar.ts";

const test = suite("calendar");
const at = (iso: string): number => Date.parse(iso);

test("a day is the account's day", () => {
  assert.is(dayIn("UTC", at("2026-03-01T23:30:00Z")), "2026-03-01");
  assert.is(dayIn("Europe/Lisbon", at("2026-07-01T23:30:00Z")), "2026-07-02");
  assert.is(dayIn("America/Los_Angeles", at("2026-07-01T03:00:00Z")), "2026-06-30");
});

test("the day after the last of a month is the first of the next, leap years included", () => {
  assert.is(daysLater("2028-02-28", 1), "2028-02-29");
  assert.is(daysLater("2026-12-31", 1), "2027-01-01");
  assert.is(daysLater("2026-03-01", -1), "2026-02-28");
});

test("months are UTC's", () => {
  assert.is(monthOf(at("2026-12-31T23:59:59.999Z")), "2026-12");
  assert.is(monthEnd(at("2026-12-31T23:59:59.999Z")), at("2027-01-01T00:00:00Z"));
});

test("midnight is found on the days on which clocks change", () => {
  const close = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) <= 1_000, `${actual}`);
  close(untilMidnight("UTC", at("2026-05-05T18:00:00Z")), 6 * 3_600_000);
  // 2026-10-25 has 25 hours in Berlin: midnight there is 23:00 UTC.
  close(untilMidnight("Europe/Berlin", at("2026-10-24T22:00:00Z")), 25 * 3_600_000);
  close(untilMidnight("Europe/Berlin", at("2026-03-28T23:00:00Z")), 23 * 3_600_000);
});

test.run();
