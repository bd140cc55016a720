import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as format from "../../console/design/format.ts";
import { localOf, momentOf } from "../../console/design/zoned.ts";

const test = suite("how the console writes times, spans, money and counts");
const CLOCK = { zone: "Europe/Berlin", now: Date.parse("2026-11-17T13:08:40Z") };

test("today is a time, this year a day, and before that a year, in the account's zone", () => {
  assert.is(format.shortTime("2026-11-17T13:02:11.480Z", CLOCK), "14:02:11");
  assert.is(format.shortTime("2026-11-16T23:30:00Z", CLOCK), "00:30:00", "the day begins at midnight in Berlin");
  assert.is(format.shortTime("2026-11-15T13:02:11Z", CLOCK), "15 Nov, 14:02");
  assert.is(format.shortTime("2025-06-17T13:02:11Z", CLOCK), "17 Jun 2025, 15:02", "summer time");
  assert.is(format.exactTime("2026-11-17T13:02:11.480Z", CLOCK), "Tue 17 Nov 2026, 14:02:11.480");
  assert.is(format.exactClock("2026-11-17T13:02:11.480Z", CLOCK), "14:02:11.480");
  assert.is(format.shortTime("soon", CLOCK), "soon");
  assert.is(format.preciseTime("2026-11-17T13:02:11.480Z", CLOCK), "14:02:11.480");
  assert.is(format.preciseTime("2026-11-15T13:02:11.480Z", CLOCK), "15 Nov, 14:02:11.480");
  assert.is(format.preciseTime("2025-06-17T13:02:11.480Z", CLOCK), "17 Jun 2025, 15:02:11.480");
  assert.is(format.dayText("2026-11-17"), "17 Nov 2026");
});

test("what is copied has each time in UTC, in its place", () => {
  const times = [
    { shown: "14:02:11", iso: "2026-11-17T13:02:11.480Z" },
    { shown: "15 Nov, 14:02", iso: "2026-11-15T13:02:11.000Z" },
    { shown: "14:02:11", iso: "2026-11-17T13:02:11.900Z" },
  ];
  assert.is(
    format.withIsoTimes("a\t14:02:11\nb\t15 Nov, 14:02\nc\t14:02", times),
    "a\t2026-11-17T13:02:11.480Z\nb\t2026-11-15T13:02:11.000Z\nc\t14:02",
  );
});

test("a span has two units at most, and is never longer than what has passed", () => {
  const spans = [0, 0.64, 9.99, 12.4, 812, 999.9, 5_249, 59_999, 60_000, 372_000, 3_600_000, 187_200_000];
  assert.equal(spans.map(format.duration), [
    ...["0 ms", "0.6 ms", "9.9 ms", "12 ms", "812 ms", "999 ms", "5.2 s", "59.9 s"],
    ...["1 min", "6 min 12 s", "1 h", "2 d 4 h"],
  ]);
  assert.equal([0, 9_001, 664_000, 3_700_000].map(format.countdown), ["0 s", "10 s", "11 min 04 s", "1 h 01 min"]);
});

test("money has its currency and its cents, and what is less than a cent is not nothing", () => {
  assert.equal([1_240, 0.02, 0, 0.0004, 0.000001, 0.01, -5].map(format.euro), [
    ...["€1,240.00", "€0.02", "€0.00", "€0.0004", "€0.000001", "€0.01", "-€5.00"],
  ]);
});

test("100 % means all, and long lists say that they are longer", () => {
  assert.is(format.percent(9_999, 10_000), "99.9 %");
  assert.is(format.percent(10_000, 10_000), "100 %");
  assert.is(format.percent(3, 150), "2.0 %");
  assert.is(format.percent(0, 0), "–");
  assert.equal([9_999, 10_000].map(format.listTotal), ["9,999", "10,000+"]);
  assert.equal([format.counted(1, "event"), format.counted(1_200, "event")], ["1 event", "1,200 events"]);
  assert.equal([1, 812, 1_500, 999_999].map(format.bytes), ["1 byte", "812 bytes", "1.5 kB", "999.9 kB"]);
  assert.equal([1_000_000, 2_460_000, 10_000_000_000].map(format.bytes), ["1 MB", "2.4 MB", "10 GB"]);
  assert.is(format.shortId("evt_tvnbdk7kocat52"), "evt_tvnbdk…");
  assert.is(format.shortId("evt_short"), "evt_short");
});

test("a moment is what a clock in the zone shows, also when the clock is changed", () => {
  assert.is(localOf("2026-11-17T13:02:11.480Z", "Europe/Berlin"), "2026-11-17T14:02:11");
  assert.is(momentOf("2026-11-17T14:02:11", "Europe/Berlin"), "2026-11-17T13:02:11.000Z");
  assert.is(momentOf("2026-07-01T14:00", "Europe/Berlin"), "2026-07-01T12:00:00.000Z");
  assert.is(momentOf("2026-03-29T03:30:00", "Europe/Berlin"), "2026-03-29T01:30:00.000Z");
  assert.is(momentOf("2026-03-29T01:59:59", "Europe/Berlin"), "2026-03-29T00:59:59.000Z");
  assert.is(momentOf("2026-01-01T00:15:00", "Asia/Kathmandu"), "2025-12-31T18:30:00.000Z");
  assert.is(momentOf("", "Europe/Berlin"), null);
  assert.is(momentOf("yesterday", "UTC"), null);
  assert.is(localOf("yesterday", "UTC"), "");
});

test.run();
