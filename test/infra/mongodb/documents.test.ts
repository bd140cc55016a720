import * as fc from "fast-check";
import { BSON } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Json } from "../../../domain/json.ts";
import type { Document, ViewSchema } from "../../../domain/ports/view-store.ts";
import { documentOf, type StoredDocument, storedDocument } from "../../../infra/mongodb/documents.ts";

const schema: ViewSchema = { name: "things.v1", fields: { text: "text", at: "number" }, indexes: [] };
const stored = (document: Document | null): StoredDocument => storedDocument(schema, "a", "000000.1", document);
/** As the driver sends and receives it. */
const throughBson = (document: StoredDocument): StoredDocument =>
  BSON.deserialize(BSON.serialize(document, { checkKeys: true, ignoreUndefined: true })) as StoredDocument;

const nested = (depth: number): Json => (depth === 0 ? "bottom" : { in: [nested(depth - 1)] });

const test = suite("documents in MongoDB");

test("a document that BSON can represent is stored natively, any other is not", () => {
  const document = { text: "é😀", at: 1.5, list: [1, null, true, { a: [] }], empty: {}, note: "a\0b $x a.b" };
  assert.equal(stored(document), { _id: "a", _position: "000000.1", ...document });
  assert.equal(documentOf(throughBson(stored(document))), document);
});

test("other documents are stored as an approximation and as exact text", () => {
  const document: Document = JSON.parse(
    `{"text":"a\\u0000\\ud800","at":1,"$ref":"x","a.b":{"$in":["\\udfff"],"__proto__":{"c":1}},"_own":1,"":2}`,
  );
  const { _exact, ...native } = throughBson(stored(document));
  assert.equal(native, {
    _id: "a",
    _position: "000000.1",
    text: "a\ufffd\ufffd",
    at: 1,
    "\uff04ref": "x",
    "a\uff0eb": { "\uff04in": ["\ufffd"], __proto___: { c: 1 } },
    _: 2,
  });
  assert.is(_exact, JSON.stringify(document));
});

test("a list in an indexed field is left out, as MongoDB would find the document by each of its items", () => {
  const document = { text: ["a", "b"], other: ["a"] };
  const { text, other } = throughBson(stored(document));
  assert.is(text, undefined);
  assert.equal(other, ["a"]);
  assert.equal(documentOf(throughBson(stored(document))), document);
});

test("nesting that is too deep for MongoDB is stored as text", () => {
  const document = { deep: nested(70) };
  const kept = throughBson(stored(document));
  assert.equal(documentOf(kept), document);
  assert.match(JSON.stringify(kept.deep), "bottom");
});

test("a removed document has only the time of its removal", () => {
  const { _removed, ...rest } = throughBson(stored(null));
  assert.instance(_removed, Date);
  assert.equal(rest, { _id: "a", _position: "000000.1" });
  assert.is(documentOf(throughBson(stored(null))), null);
});

const name = fc.constantFrom(
  ...["text", "at", "a", "$a", "a.b", "a$", "", "__proto__", "_id", "_exact", "_removed", "_bsontype", "toBSON"],
  ...["a\0", "constructor", "hasOwnProperty", "toString", "1", "\ud800", "\u2028", "$id", "$ref", "length"],
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Json>(
      null,
      true,
      0,
      -1,
      0.1,
      1e300,
      2 ** 31,
      -(2 ** 53),
      "",
      "a",
      "a\0",
      "\ud800",
      "😀",
      "ObjectId",
    ),
    fc.array(tie("tree"), { maxLength: 3 }),
    // As parsed, so that __proto__ is a member like others.
    fc
      .array(fc.tuple(name, tie("tree")), { maxLength: 4 })
      .map((members) => JSON.parse(JSON.stringify(Object.fromEntries(members)))),
  ),
}));
const document = fc
  .array(fc.tuple(name, tree), { maxLength: 5 })
  .map(
    (members): Document =>
      JSON.parse(`{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)}}`),
  );

test("any document is read as it was written, in whatever names and depth", () => {
  fc.assert(
    fc.property(document, (it) => {
      assert.is(JSON.stringify(documentOf(throughBson(stored(it)))), JSON.stringify(it));
    }),
    { numRuns: 2_000 },
  );
});

test.run();
