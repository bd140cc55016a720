import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  isPresent,
  PATH_LENGTH_MAX,
  PATH_LEVELS_MAX,
  parseFieldPath,
  readField,
} from "../../../domain/gate/field-path.ts";

const test = suite("field path");

const read = (document: unknown, text: string): unknown => {
  const path = parseFieldPath(text);
  assert.ok(path !== null, text);
  return readField(document, path ?? []);
};

test("a dotted path goes down by name, and into lists by position", () => {
  const document = { data: { items: [{ id: 7 }, { id: 8 }], "0": "zero" } };
  assert.is(read(document, "data.items.1.id"), 8);
  assert.is(read(document, "data.0"), "zero");
  assert.is(read(document, "data.items.2.id"), undefined);
});

test("a JSON Pointer reaches every name (RFC 6901, section 5)", () => {
  const document = { foo: ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, "a.b": 9, "~1": 10 };
  const expected: readonly [string, unknown][] = [
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/m~0n", 8],
    ["/a.b", 9],
    ["/~01", 10],
  ];
  for (const [pointer, value] of expected) assert.is(read(document, pointer), value, pointer);
});

test("a text in neither form is no path", () => {
  const tooDeep = Array.from({ length: PATH_LEVELS_MAX + 1 }, () => "a").join(".");
  for (const text of ["", ".", "a..b", ".a", "a.", "/~2", "/a~", "a".repeat(PATH_LENGTH_MAX + 1), tooDeep])
    assert.is(parseFieldPath(text), null, text.slice(0, 40));
});

test("nothing is read from a prototype, a text or a list's own machinery", () => {
  for (const path of ["constructor", "__proto__", "toString", "hasOwnProperty", "constructor.name"])
    assert.is(read({ a: 1 }, path), undefined, path);
  for (const path of ["list.length", "list.-", "list.01", "list.+1", "list.1e0", "list.-1", "text.0", "text.length"])
    assert.is(read({ list: [1, 2], text: "ab" }, path), undefined, path);
  assert.is(read(JSON.parse('{"__proto__": {"a": 1}}'), "__proto__.a"), 1);
});

test("null is missing; empty text, 0 and false are there", () => {
  const document = { null: null, text: "", zero: 0, no: false, list: [], object: {} };
  for (const name of ["text", "zero", "no", "list", "object"]) assert.ok(isPresent(document, [name]), name);
  for (const name of ["null", "nothing"]) assert.not.ok(isPresent(document, [name]), name);
});

/** Every path of a document with its value, by walking all of it. */
const walk = (value: unknown, path: readonly string[]): (readonly [readonly string[], unknown])[] => {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return [[path, value], ...Object.entries(value).flatMap(([name, inner]) => walk(inner, [...path, name]))];
};

test("every value of any document is found at its pointer", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (document) => {
      for (const [path, value] of walk(document, []).slice(1)) {
        const pointer = path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
        if (pointer.length > PATH_LENGTH_MAX) continue;
        assert.is(read(document, pointer), value, pointer);
      }
    }),
  );
});

test.run();
