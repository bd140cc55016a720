import { suite } from "uvu";
import * as assert from "uvu/assert";
import { count, euro, shortTime } from "../../console/design/format.ts";
import { offsetsAround } from "../../console/design/zone-changes.ts";
import { keepOffsets, offsetIn } from "../../console/design/zone-offsets.ts";

const test = suite(
  "offsets of zones that are worked out once, and numbers that are written without the browser's formats",
);
const NOW = Date.parse("2026-11-17T13:08:40Z");
const HOUR_MS = 3_600_000;
/** With half an hour, with clocks that go back for a month only, without a change, and south of the equator. */
const ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Africa/Casablanca", "Australia/Lord_Howe", "UTC"];

test.after.each(() => keepOffsets(null));

test("what is kept says at each hour what the format says", () => {
  for (const zone of ZONES) {
    const kept = offsetsAround(zone, NOW);
    const hours = Array.from({ length: 400 * 24 }, (_, nth) => NOW - 300 * 24 * HOUR_MS + nth * HOUR_MS);
    const told = hours.map((at) => offsetIn(zone, at));
    keepOffsets(kept);
    const answered = hours.map((at) => offsetIn(zone, at));
    keepOffsets(null);
    assert.equal(answered, told, zone);
  }
});

test("a change of the clocks is kept to the minute", () => {
  const { changes } = offsetsAround("Europe/Berlin", NOW);
  const moments = changes.slice(1).map(([at]) => new Date(at).toISOString());
  assert.ok(moments.includes("2026-03-29T01:00:00.000Z"));
  assert.ok(moments.includes("2026-10-25T01:00:00.000Z"));
});

test("a moment outside of what is kept, and another zone, are asked for", () => {
  keepOffsets(offsetsAround("Europe/Berlin", NOW));
  assert.is(shortTime("2019-07-01T12:00:00Z", { zone: "Europe/Berlin", now: NOW }), "1 Jul 2019, 14:00");
  assert.is(shortTime("2026-07-01T12:00:00Z", { zone: "Asia/Tokyo", now: NOW }), "1 Jul, 21:00");
});

test("numbers and sums are those of the browser's formats", () => {
  const euros = new Intl.NumberFormat("en-GB", { style: "currency", currency: "EUR" });
  const numbers = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 3 });
  const sums = [0, 0.01, 0.1, 1.005, 2.675, 9.995, 12.3, 999.99, 1_000, 1_234_567.891, 99_999_999.995, -5, -1_234.5];
  assert.equal(
    sums.map(euro),
    sums.map((it) => euros.format(it)),
  );
  const values = [0, 1, 999, 1_000, 12_345, 1_234_567, 0.5, 1.2345, 1_000.0005, -1_500, 12_345_678_901];
  assert.equal(
    values.map(count),
    values.map((it) => numbers.format(it)),
  );
});

test.run();
