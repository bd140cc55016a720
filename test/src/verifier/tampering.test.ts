import { suite } from "uvu";
import * as assert from "uvu/assert";
import { verifyExport } from "../../../src/verifier/export.ts";
import { platformHere } from "../../../src/verifier/platform.ts";
import { inWords } from "../../../src/verifier/words.ts";
import { evidenceVectors, type Vector } from "../../support/evidence-vectors.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const test = suite("tampering");

const CHANGES = 1_000;
const SEED = 20_260_301;

const reportOf = ({ keys, witnesses, previous }: Vector, bytes: Uint8Array) =>
  verifyExport(
    async function* () {
      yield bytes;
    },
    { keys, witnesses, previous },
    platformHere(),
  );

/** Those with every kind of line, each authentic as it is. */
const EXPORTS = [
  ...["full", "range", "agent", "absent-agent", "payloads"],
  ...["rotated", "witnessed", "witnessed-agent", "previous"],
];

test("1,000 changes of one byte are refused 1,000 times", async () => {
  const random = seededRandom(SEED);
  const vectors = evidenceVectors().filter(({ name }) => EXPORTS.includes(name));
  assert.is(vectors.length, EXPORTS.length);
  for (const vector of vectors) {
    const bytes = Buffer.from(Object.values(vector.files)[0] ?? "");
    assert.is((await reportOf(vector, bytes)).verdict, "authentic", vector.name);
    for (let i = 0; i < CHANGES / EXPORTS.length; i += 1) {
      const at = random.below(bytes.length);
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ (1 + random.below(255));
      const report = await reportOf(vector, changed);
      const around = changed.subarray(Math.max(0, at - 30), at + 30).toString();
      assert.is.not(
        report.verdict,
        "authentic",
        `${vector.name}, byte ${at}: ${around}\n${inWords(report).join("\n")}`,
      );
    }
  }
});

/** The places of all bytes of signatures: their names, key ids and what was signed with the key. */
const signaturesIn = (bytes: Buffer): readonly number[] => {
  const places: number[] = [];
  const dash = Buffer.from("\u2014 ");
  for (let from = bytes.indexOf(dash); from !== -1; from = bytes.indexOf(dash, from + 1)) {
    const end = bytes.indexOf("\\n", from);
    for (let at = from; at < end; at += 1) places.push(at);
  }
  return places;
};

test("a change of any byte of a signature is refused", async () => {
  for (const vector of evidenceVectors().filter(({ name }) => ["witnessed", "rotated", "own-witness"].includes(name))) {
    const bytes = Buffer.from(Object.values(vector.files)[0] ?? "");
    const places = signaturesIn(bytes);
    assert.ok(places.length > 0, vector.name);
    for (const at of places) {
      const changed = Buffer.from(bytes);
      // The other case of a letter, and another letter or digit for anything else.
      changed[at] = /[A-Za-z]/.test(bytes.toString("latin1", at, at + 1))
        ? (bytes[at] ?? 0) ^ 0x20
        : (bytes[at] ?? 0) ^ 1;
      const report = await reportOf(vector, changed);
      assert.is.not(report.verdict, "authentic", `${vector.name}, byte ${at}: ${changed.subarray(at - 20, at + 20)}`);
    }
  }
});

test("a file that ends at any line is not authentic", async () => {
  for (const vector of evidenceVectors().filter(({ name }) => EXPORTS.includes(name))) {
    const lines = (Object.values(vector.files)[0] ?? "").split("\n").slice(0, -1);
    for (let kept = 0; kept < lines.length; kept += 1) {
      const report = await reportOf(
        vector,
        Buffer.from(
          lines
            .slice(0, kept)
            .map((line) => `${line}\n`)
            .join(""),
        ),
      );
      assert.is.not(report.verdict, "authentic", `${vector.name}, ${kept} lines`);
    }
  }
});

test("a line left out, doubled or moved is refused", async () => {
  for (const vector of evidenceVectors().filter(({ name }) => EXPORTS.includes(name))) {
    const lines = (Object.values(vector.files)[0] ?? "").split("\n").slice(0, -1);
    const textOf = (changed: readonly string[]) => Buffer.from(changed.map((line) => `${line}\n`).join(""));
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at] ?? "";
      const isProofOfRotation = line.includes('"kind":"handover"') || line.includes('"kind":"payload"');
      const without = lines.filter((_, i) => i !== at);
      const doubled = [...lines.slice(0, at), line, ...lines.slice(at)];
      for (const changed of isProofOfRotation ? [without] : [without, doubled]) {
        // What witnesses saw may be given twice, as it is proved twice.
        if (changed === doubled && line.includes('"kind":"cosigned"')) continue;
        const report = await reportOf(vector, textOf(changed));
        assert.is.not(report.verdict, "authentic", `${vector.name}, line ${at}`);
      }
    }
  }
});

test.run();
