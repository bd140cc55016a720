import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type CompiledCost,
  costGate,
  costOf,
  EUR_MAX,
  eurOf,
  MICRO_PER_EUR,
  microOf,
  reportedCost,
  whyCostUnknown,
} from "../../../domain/gate/cost.ts";

const test = suite("cost");

const RULE = { pointer: "amount", path: ["amount"], scale: 1, fallback: null, takesText: false };

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

test("a value that is no amount of money is refused", () => {
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
  const cents = { ...RULE, scale: 0.01 };
  for (let amount = 0; amount <= 20_000; amount += 1) assert.is(costOf(cents, { amount }), amount * 10_000);
});

test("every amount with six decimals survives the conversion in both directions", () => {
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
      const cost = costOf({ ...RULE, scale }, { amount });
      assert.ok(cost === "invalid" || typeof cost === "number");
      assert.ok(typeof cost !== "number" || (Number.isSafeInteger(cost) && cost >= 0));
    }),
  );
});

test("the default stands for an amount that is absent or null, and for no other", () => {
  const withDefault = { ...RULE, fallback: 30 };
  for (const payload of [{}, null, { amount: null }]) {
    assert.is(costOf(RULE, payload), "absent");
    assert.is(costOf(withDefault, payload), 30);
    assert.equal(costGate(RULE, payload, "policy"), []);
  }
  for (const amount of ["5", "", [5], { value: 5 }, true, -1, EUR_MAX + 1, 1e300, Infinity, -Infinity]) {
    assert.is(costOf(withDefault, { amount }), "invalid", String(amount));
    assert.equal(
      costGate(withDefault, { amount }, "policy").map(({ code }) => code),
      ["cost-unknown"],
    );
  }
  assert.is(costOf(withDefault, { amount: 0 }), 0);
  const deep = { ...withDefault, pointer: "data.amount", path: ["data", "amount"] };
  for (const payload of [{}, { data: null }, { data: {} }]) assert.is(costOf(deep, payload), 30);
  for (const payload of [undefined, [], "x", 5, { data: "5" }, { data: [5] }, { data: 5 }])
    assert.is(costOf(deep, payload), "invalid", JSON.stringify(payload));
  assert.is(costOf({ ...withDefault, scale: 0.01 }, { amount: EUR_MAX * 100 }), EUR_MAX * 1_000_000);
  assert.is(costOf({ fixed: 20 }, undefined), 20);
});

test("a number written as text counts only where the rule says so, and only in one spelling", () => {
  const texts = { ...RULE, takesText: true, fallback: 30 };
  for (const text of ["0", "5", "5.00", "5.123456", "0.5", "1000000000"])
    assert.is(costOf(texts, { amount: text }), microOf(Number(text)));
  assert.is(costOf({ ...texts, scale: 1e-6 }, { amount: "19990000" }), 19_990_000);
  for (const text of ["", " 5", "5 ", "+5", "-5", "05", "5.", ".5", "1e3", "0x10", "1,5", "1_0", "NaN", "5\n", "٥"])
    assert.is(costOf(texts, { amount: text }), "invalid", text);
  assert.is(costOf(texts, { amount: null }), 30);
});

test("the reason names the kind of the value, and never the value, which may be hidden", () => {
  const why = (amount: unknown, rule: CompiledCost = RULE): string => whyCostUnknown(rule, { amount }, "action");
  assert.is(
    why("secret"),
    "the payload has text at amount, which is not an amount, and the cost rule does not have numeric_text: true",
  );
  assert.is(why("secret", { ...RULE, takesText: true }), "the payload has text at amount, which is not an amount");
  assert.match(why([1]), "has a list at amount");
  assert.match(why({ a: 1 }), "has an object at amount");
  assert.is(why(-5), "the number at amount is negative, or makes more than 1000000000 EUR");
  assert.is(why(null), "the payload has no amount at amount, and the action's cost rule has no default_eur");
  assert.is(whyCostUnknown(null, {}, "policy"), "the policy has no cost rule");
  assert.match(whyCostUnknown(RULE, undefined, "policy"), "the body is not JSON");
  assert.match(whyCostUnknown(RULE, [], "policy"), "no object that could have the amount at amount");
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

test("an undo may report a negative amount in the same spelling", () => {
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
