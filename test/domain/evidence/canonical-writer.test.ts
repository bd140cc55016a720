import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalJson } from "../../../domain/evidence/canonical-json.ts";
import { CanonicalWriter } from "../../../domain/evidence/canonical-writer.ts";
import type { Json } from "../../../domain/json.ts";

const test = suite("a writer of canonical JSON");

test("any value is written as canonicalJson writes it, also by a writer that has seen its shapes", () => {
  const writer = new CanonicalWriter();
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const json = value as Json; // fast-check makes only JSON.
      for (const _ of ["first", "again"]) assert.is(writer.write(json), canonicalJson(json));
    }),
    { numRuns: 2_000 },
  );
});

test("members come in order whatever order they were set in", () => {
  const writer = new CanonicalWriter();
  const orders = [{ b: 1, a: { d: [], c: "x" } }, { a: { c: "x", d: [] }, b: 1 }, { b: 1 }];
  assert.equal(
    orders.map((value) => writer.write(value)),
    ['{"a":{"c":"x","d":[]},"b":1}', '{"a":{"c":"x","d":[]},"b":1}', '{"b":1}'],
  );
});

test("names that JavaScript treats in a special way, escapes and lone surrogates are written as canonicalJson does", () => {
  const writer = new CanonicalWriter();
  const texts = [
    '{"b":{},"__proto__":{"a":[]}}',
    '{"10":1,"9":2,"a":3,"-1":true,"":null}',
    String.raw`{"\"":"\\ \u000b \u2028 \ud83d\ude00 \ud800","\udc00":-0}`,
    "[-0,1e21,0.1,true,null]",
  ];
  for (const text of texts) {
    const value = JSON.parse(text) as Json;
    assert.is(writer.write(value), canonicalJson(value));
  }
});

test("objects of ever new shapes make it forget the older ones, and it writes all of them", () => {
  const writer = new CanonicalWriter();
  for (let n = 0; n < 10_000; n += 1) {
    const value = { z: 1, [`name${n}`]: { y: 2, [`other${n}`]: 3 }, a: 4 };
    assert.is(writer.write(value), canonicalJson(value));
  }
});

test.run();
