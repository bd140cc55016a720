import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withWords } from "../../../src/erasure/shown-words.ts";

const test = suite("shown words");
const WORDS = { id: `per_${"a".repeat(32)}`, commitment: "0".repeat(64), size: 3 } as const;
const shown = (value: unknown) => withWords(value, async () => "why");

test("a commitment is replaced wherever it stands, and so is a sentence with one", async () => {
  assert.equal(await shown({ a: [WORDS], b: { sentence: "It was cancelled", words: WORDS } }), {
    a: ["why"],
    b: "It was cancelled: why",
  });
});

test("an object that has other members as well, or other values, is no commitment", async () => {
  for (const value of [
    { ...WORDS, type: "object" },
    { id: WORDS.id, commitment: WORDS.commitment },
    { ...WORDS, commitment: "0" },
    { ...WORDS, size: 1.5 },
    { ...WORDS, id: "per_1" },
  ])
    assert.equal(await shown({ value }), { value });
  const quoted = { sentence: "It was cancelled", words: WORDS, more: 1 };
  assert.equal(await shown({ quoted }), { quoted: { ...quoted, words: "why" } });
});

test.run();
