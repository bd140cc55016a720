import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ExportLine } from "../../../domain/evidence/export-lines.ts";
import { type InputFile, verifyFiles } from "../../../src/verifier/files.ts";
import { inWords } from "../../../src/verifier/words.ts";
import { evidenceVectors, type Vector } from "../../support/evidence-vectors.ts";
import { EvidenceWorld, idOf, KEY, ndjson } from "../../support/evidence-world.ts";

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

const wordsOf = async (name: string): Promise<string> => {
  const vector = evidenceVectors().find((it) => it.name === name);
  if (vector === undefined) throw new Error(`there is no vector ${name}`);
  return inWords(await verify(vector)).join("\n");
};

test("a file through an old key map says up to where nothing is left out", async () => {
  const old = await wordsOf("old-map");
  assert.match(old, /Missing: the records 8 to 10, or a newer key map/);
  assert.match(old, /These are all 2 records of \w+ below 8: none is left out/);
  const absent = await wordsOf("old-map-absent");
  assert.match(absent, /Missing: the records 6 to 10, or a newer key map/);
  assert.match(absent, /There is no record of \w+ below 6\./);
  assert.match(await wordsOf("agent"), /These are all 3 records of \w+ below 9: none is left out/);
});

test("a record that the key map does not cover counts as one of its key, or for its unknown type alone", async () => {
  const vector = evidenceVectors().find((it) => it.name === "agent-payloads");
  const report = vector && (await verify(vector));
  assert.equal([report?.records, report?.types], [4, { EventAdmitted: 3, KeyMapSealed: 1 }]);
  assert.equal([report?.payloads.verified, report?.unknownTypes], [3, { OfALaterVersion: 1 }]);
});

const AGENT = idOf("agt", "agent");
const agentFile = (
  world: EvidenceWorld,
  indexes: readonly number[],
  beside: readonly number[],
): readonly ExportLine[] => world.export({ indexes, beside, filter: { agent_id: AGENT }, map: world.mapLine(AGENT) });

test("a cut export goes on with a newer key map, which covers records from before the seal of the older one", async () => {
  const world = new EvidenceWorld();
  const write = () => world.write({ stream: `agent-${AGENT}`, type: "AgentPaused", data: {} });
  for (let n = 0; n < 3; n += 1) write();
  const map = world.mapNow();
  write();
  world.sealMap(map);
  const older = agentFile(world, [0, 1, 2, 4], [3]);
  world.sealMap();
  const newer = agentFile(world, [0, 1, 2, 3, 5], []);
  // The older one was cut off in its last lines, so its last record is the one that seals its map.
  const cut = older.slice(
    1,
    older.findIndex((line) => line.kind === "record" && line.index === 4),
  );
  const next = 2 + 1;
  const rest = newer.slice(1).filter((line) => line.kind !== "record" || line.index >= next);
  const joined = ndjson([...newer.slice(0, 1), ...cut, ...rest]);
  const { verdict, complete } = await verifyFiles([fileOf("joined.ndjson", joined)], {
    ...{ keys: [KEY.vkey], witnesses: [], previous: [] },
  });
  assert.equal([verdict, complete?.number], ["authentic", 4]);
});

test("where nothing was checked, nothing is said to be right", async () => {
  for (const name of [
    "cut-off",
    "tail-cut",
    "changed-and-cut",
    "rotated-proof",
    "rotated-checkpoint",
    "rotated-and-reopened",
  ])
    assert.match(await wordsOf(name), /^INCOMPLETE: nothing in the file was checked/, name);
  assert.match(await wordsOf("not-cosigned"), /^INCOMPLETE: what is there is right/);
});

test("records that differ since a restore are not said to be only lost", async () => {
  const words = await wordsOf("replaced");
  assert.match(words, /^INCOMPLETE: records that the earlier checkpoint covered are gone or were changed/);
  assert.match(words, /Missing: the records as the previous checkpoint has them.* is gone or was changed/);
});

test("a signature by a key that was not given may be one from before or after a rotation", async () => {
  for (const name of ["rotated-proof", "rotated-checkpoint", "rotated-previous", "strangers-key"])
    assert.match(await wordsOf(name), /no such key was given.* rotation: give both keys/, name);
});

test("a reopened log's file that is signed by another key says that both keys are needed", async () => {
  assert.match(
    await wordsOf("rotated-and-reopened"),
    /signed by a key that was not given, which may have been rotated before the log was reopened: give both keys/,
  );
});

test("a consistency proof is checked with the checkpoint of its own size, and one without its checkpoint is told", async () => {
  assert.match(await wordsOf("consistency-from-one"), /Missing: a consistency proof from 5 to 9/);
  assert.match(await wordsOf("consistency-from-none"), /Missing: a previous checkpoint of \S+ with 5 records, /);
  assert.match(
    await wordsOf("consistency-to-another"),
    /Missing: the checkpoint of 5 records .* from 3 leads to: this /,
  );
  assert.match(await wordsOf("consistency-wrong"), /the consistency proof does not lead from the previous checkpoint/);
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
