import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { idempotencyKey } from "../../../src/http/idempotency-key.ts";

const isRefused = (...values: string[]): boolean => {
  const key = idempotencyKey(values);
  return typeof key === "object" && key?.problem === "invalid-request";
};

const test = suite("idempotency key");

test("quoted and bare are one key", () => {
  assert.is(idempotencyKey([]), null);
  assert.is(idempotencyKey(["abc-1"]), "abc-1");
  assert.is(idempotencyKey(['"abc-1"']), "abc-1");
  assert.is(idempotencyKey(["a, b"]), "a, b");
  assert.is(idempotencyKey(['"a\\"b\\\\c"']), 'a"b\\c');
});

test("a key written as a structured string is read unescaped", () => {
  const printable = fc.array(fc.integer({ min: 0x20, max: 0x7e }), { minLength: 1, maxLength: 255 });
  fc.assert(
    fc.property(printable, (codes) => {
      const key = String.fromCharCode(...codes);
      assert.is(idempotencyKey([`"${key.replace(/["\\]/g, "\\$&")}"`]), key);
    }),
  );
});

test("255 characters are a key, 256 and 10,000 are not", () => {
  assert.is(idempotencyKey(["k".repeat(255)]), "k".repeat(255));
  assert.is(idempotencyKey([`"${"k".repeat(255)}"`]), "k".repeat(255));
  for (const length of [256, 10_000]) assert.ok(isRefused("k".repeat(length)));
  assert.ok(isRefused(`"${"k".repeat(256)}"`));
});

test("empty, open, parametrised, not ASCII, or twice is refused", () => {
  for (const value of ["", '""', '"', '"a', '"a"b', '"a";q=1', '"a\\b"', "ä", "a\u0000", "\u007f", '"\t"'])
    assert.ok(isRefused(value), JSON.stringify(value));
  assert.ok(isRefused("a", "a"));
});

test.run();
