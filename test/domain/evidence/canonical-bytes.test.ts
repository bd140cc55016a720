import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { utf8 } from "../../../domain/evidence/bytes.ts";
import { isPlainlyCanonical } from "../../../domain/evidence/canonical-bytes.ts";
import { canonicalJson } from "../../../domain/evidence/canonical-json.ts";
import { leafBytes, readLeaf } from "../../../domain/evidence/leaf.ts";
import type { Json } from "../../../domain/json.ts";
import { evidenceVectors } from "../../support/evidence-vectors.ts";

const test = suite("canonical bytes");

const RUNS = 2_000;

const isCanonical = (text: string): boolean => canonicalJson(JSON.parse(text) as Json) === text;

test("what is said to be canonical is what canonicalJson writes, for any JSON in any order and spacing", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1), (value, space) => {
      const text = JSON.stringify(value, null, space);
      if (isPlainlyCanonical(utf8(text))) assert.ok(isCanonical(text), text);
    }),
    { numRuns: RUNS },
  );
});

test("a canonical text with one character changed is not taken for canonical, unless it still is", () => {
  const object = fc.dictionary(
    fc.constantFrom("a", "b", "ab", "B", "1", "10", "9", "", "_", "é"),
    fc.oneof(fc.integer(), fc.constantFrom('"', "\n", "a b", "€", null, true), fc.array(fc.nat())),
  );
  const change = fc.constantFrom(...' \t"\\:,{}[]0123456789.-+eEabuU/\n');
  fc.assert(
    fc.property(object, fc.nat(), change, (value, place, character) => {
      const text = canonicalJson(value as Json);
      const at = place % (text.length + 1);
      for (const changed of [
        text.slice(0, at) + character + text.slice(at),
        text.slice(0, at) + character + text.slice(at + 1),
      ]) {
        try {
          JSON.parse(changed);
        } catch {
          continue;
        }
        if (isPlainlyCanonical(utf8(changed))) assert.ok(isCanonical(changed), changed);
      }
    }),
    { numRuns: RUNS },
  );
});

test("forms that are not canonical are not taken for it", () => {
  const forms = [
    ...['{"b":1,"a":2}', '{"a":1,"a":2}', '{"a":{"c":1},"a":2}', '[{"b":1,"a":2}]', '{ "a":1}', '{"a" :1}', '{"a":1} '],
    ...[
      '{"a":1.0}',
      '{"a":1e3}',
      '{"a":-0}',
      '{"a":10000000000000000000000}',
      '["\\u0061"]',
      '["\\/"]',
      '{"\\u0061":1}',
    ],
    ...['{"ab":1,"a":2}', '{"a":[],"A":1}', '["\\u000a"]'],
  ];
  for (const form of forms) assert.not.ok(isPlainlyCanonical(utf8(form)), form);
});

test("the leaves that a service writes are seen to be canonical without being written again", () => {
  const leaves = evidenceVectors()
    .filter(({ name, verdict }) => verdict === "authentic" && name === "full")
    .flatMap(({ files }) => Object.values(files).join("").split("\n"))
    .filter((line) => line.startsWith('{"kind":"record"'))
    .map((line) => Buffer.from((JSON.parse(line) as { leaf: string }).leaf, "base64"));
  assert.ok(leaves.length > 0);
  for (const leaf of leaves) assert.ok(isPlainlyCanonical(leaf), leaf.toString());
});

test("a leaf with names and numbers of which bytes do not tell is read all the same", () => {
  const leaf = {
    v: 1,
    ...{ account: "acc_1", index: 0, stream: "event-1", revision: 0, id: "1", type: "T" },
    recorded_at: "2026-01-01T00:00:00.000Z",
    actor: { kind: "system", id: "s" },
    subject: "1",
    data: { é: 1.5, 9: -1, 10: "\u0001", big: 1e21 },
    meta: {},
    keys: {},
  } as const;
  const bytes = leafBytes(leaf);
  assert.not.ok(isPlainlyCanonical(bytes));
  assert.equal(JSON.parse(JSON.stringify(readLeaf(bytes))), leaf);
});

test.run();
