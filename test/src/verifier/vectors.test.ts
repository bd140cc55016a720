import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type InputFile, verifyFiles } from "../../../src/verifier/files.ts";
import { inWords } from "../../../src/verifier/words.ts";
import { evidenceVectors, type Vector } from "../../support/evidence-vectors.ts";

const test = suite("verifier's vectors");

const FOLDER = join("test", "vectors", "evidence");

const fileOf = (name: string, text: string): InputFile => {
  const bytes = Buffer.from(text);
  return {
    name,
    size: bytes.length,
    async *bytes() {
      // Chunks that end within lines and characters.
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
    },
  };
};

const verify = ({ files, keys, witnesses, previous }: Vector) =>
  verifyFiles(
    Object.entries(files).map(([name, text]) => fileOf(name, text)),
    { keys, witnesses, previous },
  );

for (const vector of evidenceVectors())
  test(`${vector.name} is ${vector.verdict}: ${vector.why}`, async () => {
    const report = await verify(vector);
    const words = inWords(report).join("\n");
    assert.is(report.verdict, vector.verdict, words);
    assert.is(report.fault?.index ?? null, vector.index, words);
  });

test("the files in the folder are those that the script makes", () => {
  // The list names each file; a reader of another implementation has nothing but the folder.
  const listed = JSON.parse(readFileSync(join(FOLDER, "vectors.json"), "utf8"));
  const expected = evidenceVectors().map(({ files, ...rest }) => ({ ...rest, files: Object.keys(files) }));
  assert.equal(listed, expected);
  const files = evidenceVectors().flatMap(({ files: it }) => Object.entries(it));
  for (const [name, text] of files) assert.is(readFileSync(join(FOLDER, name), "utf8"), text, name);
  assert.is(readdirSync(FOLDER).length, files.length + 1);
});

test.run();
