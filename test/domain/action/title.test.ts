import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseTitle, TITLE_FIELDS_MAX, TITLE_LENGTH_MAX, titleOf, titleParts } from "../../../domain/action/title.ts";

const test = suite("titles of actions");

test("a title is its template with the payload's fields, and tells the two apart", () => {
  const payload = {
    amount: 1240,
    customer: { name: "Hana Weiss" },
    order: "4711",
    "a/b": true,
    lines: [{ sku: "s-1" }],
  };
  assert.is(
    titleOf("Refund {/amount|eur} to {/customer/name} for order {/order}", payload),
    "Refund €1,240.00 to Hana Weiss for order 4711",
  );
  assert.is(titleOf("{/a~1b} {/lines/0/sku} {/lines} {/customer} {/none}", payload), "true s-1 […] {…} (none)");
  assert.is(titleOf("{{{/order}}} is a set", payload), "{4711} is a set");
  assert.equal(titleParts("To {/order}", payload), [
    { text: "To ", pointer: null },
    { text: "4711", pointer: "/order" },
  ]);
});

test("amounts in euros show all that the number says", () => {
  const euros = (amount: unknown) => titleOf("{/a|eur}", { a: amount } as never);
  assert.equal([0, 0.5, 0.0004, 12, 1234567.8, -3, 1e21, 0.1234567, "12"].map(euros), [
    "€0.00",
    "€0.50",
    "€0.0004",
    "€12.00",
    "€1,234,567.80",
    "-€3.00",
    "1e+21",
    "0.1234567",
    "12",
  ]);
});

test("a value that an agent writes cannot hide or reorder the sentence, nor push its end out of sight", () => {
  assert.is(titleOf("Pay {/to}", { to: "a\u202eb\nc" }), "Pay a\\u202eb\\u000ac");
  const long = titleOf("Pay {/to} now", { to: "x".repeat(500) });
  assert.is(long, `Pay ${"x".repeat(120)}… now`);
  assert.is(titleOf("Pay {/__proto__/x}", {}), "Pay (none)");
});

test("a template is checked when it is written", () => {
  const fields = (count: number) => "{/a}".repeat(count);
  for (const template of [
    ...[
      "",
      " a",
      "a\nb",
      "a\u200bb",
      "{amount}",
      "{/a~2}",
      "{/a",
      "a}",
      "{}",
      "{/a|usd",
      "x".repeat(TITLE_LENGTH_MAX + 1),
    ],
    fields(TITLE_FIELDS_MAX + 1),
  ])
    assert.is(parseTitle(template).ok, false, template);
  for (const template of [
    "a",
    "{/a}",
    "{/a|eur}",
    "{{}}",
    "{/}",
    fields(TITLE_FIELDS_MAX),
    "x".repeat(TITLE_LENGTH_MAX),
  ])
    assert.is(parseTitle(template).ok, true, template);
});

test.run();
