import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { scanJson, strictJson } from "../../../src/streams/strict-json.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const refusal = (input: Uint8Array | string): { message: string; path: string } => {
  const read = strictJson(typeof input === "string" ? bytes(input) : input);
  if (read.ok) throw new Error("was accepted");
  return { message: read.message, path: read.path };
};

type Tree = string | number | null | boolean | Tree[] | { members: (readonly [string, Tree])[] };

/** Writes members as they are, duplicates included, each key in one of its spellings. */
const write = (tree: Tree): string => {
  if (Array.isArray(tree)) return `[ ${tree.map(write).join(" ,")}]`;
  if (tree === null || typeof tree !== "object") return JSON.stringify(tree);
  const spelt = (key: string, index: number) =>
    index % 2 === 0
      ? JSON.stringify(key)
      : `"${[...Array(key.length).keys()].map((i) => `\\u${key.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`;
  return `{${tree.members.map(([key, value], index) => `${spelt(key, index)} :${write(value)}`).join(",")}}`;
};

const depthOf = (tree: Tree): number => {
  if (tree === null || typeof tree !== "object") return 0;
  const children = Array.isArray(tree) ? tree : tree.members.map(([, value]) => value);
  return 1 + Math.max(0, ...children.map(depthOf));
};

const escaped = (part: string | number) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The first duplicate in the order of the text. */
const duplicateOf = (tree: Tree, path = ""): string | undefined => {
  if (tree === null || typeof tree !== "object") return undefined;
  const seen = new Set<string>();
  const members: (readonly [string | number, Tree])[] = Array.isArray(tree) ? [...tree.entries()] : tree.members;
  for (const [key, value] of members) {
    if (typeof key === "string" && seen.has(key)) return path + escaped(key);
    if (typeof key === "string") seen.add(key);
    const inner = duplicateOf(value, path + escaped(key));
    if (inner !== undefined) return inner;
  }
  return undefined;
};

const key = fc.oneof(fc.constantFrom("a", "b", "c", "", "/", "~", '"', "\\", "ä", "👍"), fc.string({ maxLength: 3 }));
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, -1.5e3, "", '"', "\\", '\\"', "[{,:}]", "ü"),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.record({ members: fc.array(fc.tuple(key, tie("tree")), { maxLength: 24 }) }),
  ),
}));

const test = suite("strict json");

test("duplicates are found where a naive reader finds them, at the same place", () => {
  fc.assert(
    fc.property(tree, (value) => {
      const text = write(value);
      JSON.parse(text);
      assert.is(scanJson(text, 64).duplicate, duplicateOf(value));
    }),
    { numRuns: 2_000 },
  );
});

test("the limit of the depth holds exactly", () => {
  fc.assert(
    fc.property(tree, fc.integer({ min: 0, max: 8 }), (value, depthMax) => {
      fc.pre(duplicateOf(value) === undefined);
      assert.is(scanJson(write(value), depthMax).tooDeep ?? false, depthOf(value) > depthMax);
    }),
    { numRuns: 1_000 },
  );
});

test("valid JSON without duplicates is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes("__proto__"));
      assert.equal(strictJson(bytes(text)), { ok: true, value: JSON.parse(text) });
    }),
  );
});

test("64 levels are read and 65 are not", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  assert.ok(strictJson(bytes(nested(64))).ok);
  assert.match(refusal(nested(65)).message, /deeper than 64/);
});

test("a million levels of arrays or objects neither overflow the stack nor take long", () => {
  assert.match(refusal("[".repeat(1_000_000) + "]".repeat(1_000_000)).message, /deeper/);
  assert.match(refusal(`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`).message, /deeper/);
  assert.match(refusal("[".repeat(1_000_000)).message, /not valid JSON/);
});

test("a duplicate is named with its place, in whichever spelling it came", () => {
  assert.is(refusal('{"a":1,"a":2}').path, "/a");
  assert.is(refusal('{"a":1,"\\u0061":2}').path, "/a");
  assert.is(refusal('{"x":[0,{"y/z":1,"y/z":1}]}').path, "/x/1/y~1z");
});

test("one key in two objects is not a duplicate", () => {
  assert.ok(strictJson(bytes('{"a":{"a":1},"b":[{"a":1},{"a":1}],"c":"a"}')).ok);
});

test("a duplicate after hundreds of keys is found", () => {
  const members = Array.from({ length: 500 }, (_, index) => `"k${index}":{"v":${index}}`).join(",");
  assert.ok(strictJson(bytes(`{${members}}`)).ok);
  assert.is(refusal(`{${members},"k3":0}`).path, "/k3");
  assert.is(refusal(`{${members},"z":{"k3":0,"k3":0}}`).path, "/z/k3");
});

test("__proto__ is refused in every spelling, and constructor is an ordinary key", () => {
  assert.is(refusal('{"a":{"__proto__":{"admin":true}}}').path, "/a/__proto__");
  assert.is(refusal('{"\\u005f_proto__":1}').path, "/__proto__");
  assert.ok(strictJson(bytes('{"constructor":{"prototype":{"admin":true}}}')).ok);
  assert.is(Object.hasOwn(Object.prototype, "admin"), false);
});

test("a duplicate after __proto__ is reported as well", () => {
  assert.equal(scanJson('{"__proto__":1,"a":1,"a":2}', 64), { duplicate: "/a", proto: "/__proto__" });
});

test("a number that a double does not hold is refused with its place; every spelling of one that it holds is read", () => {
  for (const number of [
    "12345678901234567890",
    "-9007199254740993",
    "0.1000000000000000055",
    "1e999",
    "1e-999",
    "72057594037927936",
  ])
    assert.equal(refusal(`{"a":["1e999",{"b/c":${number}}]}`), {
      message: "This number would not be kept exactly; send it as a string.",
      path: "/a/1/b~1c",
    });
  assert.is(refusal("1e400").path, "");
  for (const number of [
    "0",
    "-0",
    "0.0e9",
    "1.50",
    "1E+3",
    "9007199254740992",
    "0.30000000000000004",
    "1e21",
    "5e-324",
    "100000000000000000000.00",
  ])
    assert.ok(strictJson(bytes(`[${number}, {"a":${number}}]`)).ok, number);
});

test("every double is read in the spelling that it is written in", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => strictJson(bytes(`[${value}]`)).ok),
  );
});

test("a number of a million zeros does not take long", () => {
  const zeros = "0".repeat(1_000_000);
  assert.match(refusal(`[1${zeros}1]`).message, /exactly/);
  assert.match(refusal(`[0.${zeros}1]`).message, /exactly/);
  assert.ok(strictJson(bytes(`[1.${zeros}]`)).ok);
});

test("bytes that are not UTF-8, and a byte order mark, are refused", () => {
  for (const sequence of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]])
    assert.match(refusal(Uint8Array.from([0x22, ...sequence, 0x22])).message, /UTF-8/);
  assert.match(refusal("\ufeff{}").message, /byte order mark/);
});

test("half a surrogate pair is refused, a whole one and a backslash before it are not", () => {
  assert.match(refusal('{"a":"\\ud800"}').message, /surrogate/);
  assert.match(refusal('{"\\uDFFF":1}').message, /surrogate/);
  assert.ok(strictJson(bytes('{"a":"\\ud83d\\udc4d"}')).ok);
  assert.ok(strictJson(bytes('{"a":"\\\\ud800"}')).ok);
});

test("text that is not JSON is refused with a message that repeats nothing of it", () => {
  for (const text of ["", " ", "{", "{'a':1}", "[1,]", "NaN", "01", '"\u0001"', "{}x", '{"secret":hunter2}'])
    assert.not.match(refusal(text).message, /hunter2/);
});

test.run();
