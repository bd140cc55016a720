import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { costOf, EUR_MAX, eurOf, MICRO_PER_EUR, microOf, reportedCost } from "../../../domain/gate/cost.ts";

const test = suite("cost");

test("0.07 euros are exactly 70,000, and fourteen of them fit into one euro", () => {
  const cost = microOf(0.07) ?? Number.NaN;
  assert.is(cost, 70_000);
  assert.ok(14 * cost <= MICRO_PER_EUR);
  assert.ok(15 * cost > MICRO_PER_EUR);
});

test("an amount is rounded to the nearest micro-euro", () => {
  assert.is(microOf(0.0000004), 0);
  assert.is(microOf(0.0000005), 1);
  assert.is(microOf(1.9999999), 2_000_000);
});

test("what is no amount of money is none", () => {
  for (const value of [
    Number.NaN,
    Infinity,
    -Infinity,
    -0.01,
    EUR_MAX + 1,
    "12.5",
    true,
    null,
    undefined,
    [1],
    { a: 1 },
  ])
    assert.is(microOf(value), null, String(value));
  assert.ok(Object.is(microOf(-0), 0));
  assert.is(microOf(EUR_MAX), EUR_MAX * MICRO_PER_EUR);
});

test("cents with a scale are exact", () => {
  const cents = { path: ["amount"], scale: 0.01, fallback: null };
  for (let amount = 0; amount <= 20_000; amount += 1) assert.is(costOf(cents, { amount }), amount * 10_000);
});

test("every amount with six decimals survives the way there and back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: EUR_MAX }), fc.integer({ min: 0, max: 999_999 }), (whole, part) => {
      const micro = Math.min(whole * MICRO_PER_EUR + part, EUR_MAX * MICRO_PER_EUR);
      // As it stands in the JSON of a request.
      assert.is(microOf(JSON.parse(JSON.stringify(eurOf(micro)))), micro);
    }),
  );
});

test("no number makes a cost that is not a whole number of micro-euros", () => {
  fc.assert(
    fc.property(fc.double(), fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (amount, scale) => {
      const cost = costOf({ path: ["amount"], scale, fallback: null }, { amount });
      assert.ok(cost === null || (Number.isSafeInteger(cost) && cost >= 0));
    }),
  );
});

test("a cost that cannot be determined is the fallback, or none", () => {
  const rule = { path: ["amount"], scale: 1, fallback: null };
  for (const payload of [{}, undefined, { amount: "5" }, { amount: -1 }, { amount: null }]) {
    assert.is(costOf(rule, payload), null);
    assert.is(costOf({ ...rule, fallback: 30 }, payload), 30);
  }
  assert.is(costOf({ ...rule, fallback: 30 }, { amount: 0 }), 0);
  assert.is(costOf({ fixed: 20 }, undefined), 20);
});

test("an amount that is too large to be counted is not passed off as the fallback", () => {
  const rule = { path: ["amount"], scale: 0.01, fallback: 30 };
  assert.is(costOf(rule, { amount: EUR_MAX * 100 }), EUR_MAX * 1_000_000);
  for (const amount of [EUR_MAX * 100 + 1, 1e300, Number.POSITIVE_INFINITY]) assert.is(costOf(rule, { amount }), null);
});

test("a receiver's amount is read digit by digit: up to six decimals, a million euros, nothing else", () => {
  for (const [text, micro] of [
    ["0", 0],
    ["12.5", 12_500_000],
    ["0.000001", 1],
    [" 3 ", 3_000_000],
    ["999999.999999", 999_999_999_999],
    ["1000000", 1_000_000_000_000],
  ] as const)
    assert.is(reportedCost(text), micro, text);
  for (const text of [
    "",
    "-1",
    "+1",
    "1e3",
    "1,5",
    "0.0000001",
    "01",
    ".5",
    "5.",
    "NaN",
    // Cents, or nobody's amount: over what one request may be said to cost.
    "1000000.000001",
    "1000000000",
    "1 EUR",
    "1, 2",
  ])
    assert.is(reportedCost(text), null, text);
});

test("who gives back may report less than nothing, in the same way", () => {
  for (const [text, micro] of [
    ["-200", -200_000_000],
    [" -0.07 ", -70_000],
    ["12.5", 12_500_000],
  ] as const)
    assert.is(reportedCost(text, true), micro, text);
  assert.ok(Object.is(reportedCost("-0", true), 0));
  assert.is(reportedCost("-1"), null);
  for (const text of ["--1", "-", "- 1", "-01", "-1000000.000001"]) assert.is(reportedCost(text, true), null, text);
});

test.run();
