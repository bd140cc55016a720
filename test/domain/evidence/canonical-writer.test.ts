import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalJson } from "../../../domain/evidence/canonical-json.ts";
import { CanonicalWriter } from "../../../domain/evidence/canonical-writer.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";

const test = suite("a writer of canonical JSON");

/** Each member by itself, in the order of their names: slow, and plainly right. */
const written = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${written(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
};

const assertWritten = (writer: CanonicalWriter, value: Json): void => {
  const right = written(value);
  assert.equal([writer.write(value), canonicalJson(value)], [right, right]);
};

test("any value is written as canonicalJson writes it, also by a writer that has seen its shapes", () => {
  const writer = new CanonicalWriter();
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const json = value as Json; // fast-check makes only JSON.
      for (const _ of ["first", "again"]) assertWritten(writer, json);
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
    assertWritten(writer, value);
  }
});

test("objects of ever new shapes make it forget the older ones, and it writes all of them", () => {
  const writer = new CanonicalWriter();
  for (let n = 0; n < 10_000; n += 1) {
    const value = { z: 1, [`name${n}`]: { y: 2, [`other${n}`]: 3 }, a: 4 };
    assertWritten(writer, value);
  }
});

test("objects of many members and of long names are written, and not remembered", () => {
  const writer = new CanonicalWriter();
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`name${(n * 7) % 500}`, n]));
  for (const value of [many, { ["z".repeat(100_000)]: 1, a: { ["y".repeat(65)]: 2, b: 3 } }])
    for (const _ of ["first", "again"]) assertWritten(writer, value);
});

test.run();
