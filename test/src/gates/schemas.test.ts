import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { jsonValues } from "../../../src/gates/json-values.ts";
import { meter, TooCostly } from "../../../src/gates/meter.ts";
import { type CompiledSchema, type Mismatch, schemaCompiler } from "../../../src/gates/schemas.ts";

const test = suite("payload schemas");

const work = meter();
const compiler = schemaCompiler(jsonValues(work), work);
const compile = (schema: JsonObject | boolean): CompiledSchema => compiler(schema);

const mismatch = (schema: JsonObject | boolean, payload: unknown): Mismatch | null => {
  const compiled = compile(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
  work.reset();
  return compiled.schema.mismatch(payload);
};
const refusal = (schema: JsonObject): string => {
  const compiled = compile(schema);
  return compiled.ok ? "" : compiled.errors.map(({ path, message }) => `${path} ${message}`).join("; ");
};

test("a mismatch names the place and the reason without the value", () => {
  const schema = { type: "object", required: ["id"], properties: { card: { type: "integer" } } };
  assert.is(mismatch(schema, { id: 1, card: 4242 }), null);
  assert.equal(mismatch(schema, { id: 1, card: "4242 4242" }), { at: "/card", message: "must be integer" });
  assert.equal(mismatch(schema, {}), { at: "", message: "must have required property 'id'" });
  const long = "x".repeat(1_000);
  assert.is(mismatch({ properties: { [long]: { type: "null" } } }, { [long]: 1 })?.at.length, 201);
});

test("a mismatch names only fields of the schema, because other names may be hidden data", () => {
  const card = { type: "object", properties: { "a/b": { type: "integer" } } };
  const schema = { properties: { people: { type: "object", additionalProperties: { items: card } } } };
  const at = (payload: unknown) => mismatch(schema, payload)?.at;
  assert.is(at({ people: { "ada@example.com": [{}, { "a/b": "x" }] } }), "/people/*/1/a~1b");
  assert.is(at({ people: { "4242424242424242": [1] } }), "/people/*/0");
});

test("true and false are schemas", () => {
  assert.is(mismatch(true, 1), null);
  assert.ok(mismatch(false, 1) !== null);
});

test("only own properties count", () => {
  assert.ok(mismatch({ required: ["toString"] }, {}) !== null);
  assert.ok(mismatch({ properties: { constructor: { type: "string" } } }, {}) === null);
});

test("two patterns in one schema are two patterns, and each is RE2", () => {
  const schema = {
    properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } },
    patternProperties: { "^x_": { type: "null" } },
  };
  assert.is(mismatch(schema, { a: "a", b: "b", x_1: null }), null);
  assert.is(mismatch(schema, { a: "a", b: "a" })?.at, "/b");
  assert.equal(mismatch(schema, { x_1: 1 }), { at: "/*", message: "must be null" });
  assert.ok(mismatch({ pattern: "^(a+)+$" }, `${"a".repeat(100_000)}!`) !== null);
  assert.match(refusal({ pattern: "(?=a)" }), /not a regular expression/);
  assert.match(refusal({ patternProperties: { "(": {} } }), /not a regular expression/);
});

test("amounts with decimals are multiples of 0.01", () => {
  for (const amount of [19.99, 0.07, 1_234.56]) assert.is(mismatch({ multipleOf: 0.01 }, amount), null, String(amount));
  assert.ok(mismatch({ multipleOf: 0.01 }, 0.075) !== null);
});

test("formats that are checked in linear time are allowed, others are refused", () => {
  assert.is(mismatch({ format: "date-time" }, "2026-03-01T12:00:00Z"), null);
  assert.ok(mismatch({ format: "date-time" }, "2026-13-41T12:00:00Z") !== null);
  assert.ok(mismatch({ format: "email" }, "nobody") !== null);
  for (const format of ["regex", "url", "uri-template", "byte", "emial"])
    assert.match(refusal({ format }), new RegExp(`unknown format "${format}"`));
});

test("a schema may name draft-07", () => {
  const draft7 = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
  assert.is(mismatch(draft7, [1])?.at, "/0");
  assert.match(refusal({ items: [{ type: "string" }] }), /\/items/);
  assert.match(refusal({ $schema: "http://json-schema.org/draft-04/schema#" }), /2020-12 or draft-07/);
});

test("references lead only inside the schema, and not to themselves", () => {
  const schema = { $defs: { "a/b": { type: "string" } }, properties: { x: { $ref: "#/$defs/a~1b" } } };
  assert.is(mismatch(schema, { x: 1 })?.at, "/x");
  for (const $ref of ["https://example.com/schema", "#/$defs/none", "other.json", "#anchor"])
    assert.match(refusal({ $ref }), /leads nowhere/, $ref);
  assert.match(refusal({ properties: { child: { $ref: "#" } } }), /refers to itself/);
  assert.match(refusal({ properties: { a: { $id: "x", type: "string" } } }), /at the top/);
  for (const keyword of ["$async", "$dynamicRef", "$anchor"])
    assert.match(refusal({ [keyword]: keyword === "$async" ? true : "#a" }), /not offered/, keyword);
});

test("an invalid schema is refused with the place of the error", () => {
  assert.match(refusal({ properties: { a: { type: "strng" } } }), /^\/properties\/a\/type /);
  assert.match(refusal({ requird: ["a"] }), /unknown keyword/);
  assert.match(refusal({ minLength: -1 }), /^\/minLength /);
});

test("size and depth are limited", () => {
  assert.match(refusal({ description: "x".repeat(33_000) }), /bytes/);
  let deep: JsonObject = {};
  for (let level = 0; level < 8; level += 1) deep = { properties: { a: deep } };
  assert.match(refusal(deep), /levels deep/);
});

test("nested references do not grow exponentially", () => {
  const names = Array.from({ length: 60 }, (_, index) => index);
  const twice = (index: number): JsonObject => ({
    anyOf: [{ $ref: `#/$defs/${index}` }, { $ref: `#/$defs/${index}` }],
  });
  const $defs = { ...Object.fromEntries(names.map((index) => [index, twice(index + 1)])), 60: { type: "null" } };
  assert.match(refusal({ ...twice(0), $defs }), /written out/);
});

test("unique items need a short list", () => {
  assert.match(refusal({ uniqueItems: true }), /maxItems/);
  assert.match(refusal({ items: { uniqueItems: true, maxItems: 101 } }), /^\/items\/uniqueItems /);
  assert.ok(mismatch({ uniqueItems: true, maxItems: 100 }, [{ a: 1 }, { a: 1 }]) !== null);
  assert.is(mismatch({ uniqueItems: true, maxItems: 2 }, [1, 1, 1])?.message, "must NOT have more than 2 items");
});

test("a large schema on a large payload, or a pattern on a long text, is too costly", () => {
  const wide = { items: { anyOf: Array.from({ length: 400 }, (_, index) => ({ required: [`k${index}`] })) } };
  const tooCostly = (error: unknown): boolean => error instanceof TooCostly;
  assert.throws(
    () =>
      mismatch(
        wide,
        Array.from({ length: 200_000 }, () => 1),
      ),
    tooCostly,
  );
  assert.throws(() => mismatch({ pattern: "(a|b)*a(a|b){100}d|bc$" }, "ab".repeat(400_000)), tooCostly);
});

test("a check does not change the payload", () => {
  const payload = { a: "5" };
  mismatch({ properties: { a: { type: "integer", default: 1 }, b: { default: 2 } } }, payload);
  assert.equal(payload, { a: "5" });
});

test("a schema that would take long to compile is refused before compiling", () => {
  const oneOf = Array.from({ length: 1_500 }, (_, minimum) => ({ minimum }));
  assert.match(refusal({ oneOf }), /parts/);
  assert.match(refusal({ $defs: { a: { minimum: 1 } }, allOf: oneOf.map(() => ({ $ref: "#/$defs/a" })) }), /parts/);
});

test.run();
