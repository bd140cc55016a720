import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deviceOf, expiryIn } from "../../console/src/pages/settings-text.ts";
import { added, expectedEvents, overageEur } from "../../console/src/pages/usage-figures.ts";

const test = suite("what settings and usage compute");

test("a browser and its system are named; what no browser sends stays, and what was erased is said", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
  assert.is(deviceOf(chrome), "Chrome on Linux");
  assert.is(deviceOf(`${chrome} Edg/141.0`), "Edge on Linux");
  assert.is(
    deviceOf("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"),
    "Safari on iPhone",
  );
  assert.is(deviceOf("curl/8.5.0"), "curl");
  assert.is(deviceOf("node"), "node");
  assert.is(deviceOf(null), "Erased");
});

test("a key expires after so many days, or never", () => {
  const now = Date.parse("2026-03-10T12:00:00.000Z");
  assert.is(expiryIn("", now), null);
  assert.is(expiryIn("30", now), "2026-04-09T12:00:00.000Z");
});

test("the end of a month lies between its quietest and its busiest day of the last seven full ones", () => {
  const at = { end: "2026-04-01T00:00:00.000Z", now: Date.parse("2026-03-22T00:00:00.000Z") };
  assert.equal(expectedEvents(100, [10, 30, 5], at), { least: 200, most: 400 });
  assert.equal(expectedEvents(100, [900, 1, 1, 1, 1, 1, 1, 2, 0], at), { least: 110, most: 120 });
  assert.is(expectedEvents(100, [5], at), null);
  assert.equal(expectedEvents(7, [3, 1], { ...at, now: Date.parse("2026-04-02T00:00:00.000Z") }), {
    least: 7,
    most: 7,
  });
});

test("overage is counted in begun blocks", () => {
  const block = { events: 25_000, price_eur: 12 };
  assert.is(overageEur(100_000, 100_000, block), 0);
  assert.is(overageEur(100_001, 100_000, block), 12);
  assert.is(overageEur(125_001, 100_000, block), 24);
});

test("the days of several sources are added up", () => {
  const of = (...values: (number | null)[]) => ({ points: values.map((value, nth) => ({ at: `day ${nth}`, value })) });
  assert.equal(added([of(1, null), of(2, 3)]), [
    { at: "day 0", value: 3 },
    { at: "day 1", value: 3 },
  ]);
  assert.equal(added([]), []);
});

test.run();
