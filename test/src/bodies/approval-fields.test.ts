import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FIELD_LENGTH_MAX, FIELDS_MAX, visibleFields } from "../../../src/bodies/approval-fields.ts";

const test = suite("fields of an approval");

const orderOf = (body: string) => ({
  ...{ asked: {}, steps: null, hidden: [], title: "Pay {/a}", labels: [{ "/a~1b": "Both" }] },
  kept: { body: Buffer.from(body) },
  salt: new Uint8Array(),
});
const read = (payload: unknown) => visibleFields(orderOf(JSON.stringify(payload)));

test("a label is found by its pointer, also where names need escapes or are those of an object's own members", () => {
  const { fields } = read({ "a/b": 1, constructor: 2 });
  assert.equal(
    fields.map(({ pointer, label }) => [pointer, label]),
    [
      ["/a~1b", "Both"],
      ["/constructor", "constructor"],
    ],
  );
});

test("of many fields the first are shown and the others counted, and a long text is cut and says so", () => {
  const many = read(Array.from({ length: FIELDS_MAX + 2 }, (_, index) => index));
  assert.equal([many.fields.length, many.left_out], [FIELDS_MAX, 2]);
  const [field] = read({ sql: "x".repeat(FIELD_LENGTH_MAX + 1) }).fields;
  assert.equal([String(field?.value).length, field?.cut], [FIELD_LENGTH_MAX, true]);
  const [whole] = read({ sql: "x".repeat(FIELD_LENGTH_MAX) }).fields;
  assert.is(whole?.cut, undefined);
});

test("a payload that a parser would change has neither fields nor a sentence made of other numbers", () => {
  const { title, fields } = visibleFields(orderOf('{"a":12345678901234567891}'));
  assert.is(title, null);
  assert.equal(
    fields.map(({ value }) => value),
    ['{"a":12345678901234567891}'],
  );
});

test.run();
