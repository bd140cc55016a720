import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countersign } from "../../support/command-line.ts";
import { EvidenceWorld, KEY } from "../../support/evidence-world.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

const test = suite("countersign verify");

const fileOf = (name: string): string => join("test", "vectors", "evidence", name);
const verify = (...args: string[]) => countersign(["verify", ...args]);

test("only an authentic file ends with 0, and each other verdict has its own code", async () => {
  const key = ["--key", KEY.vkey];
  const authentic = await verify(fileOf("full.ndjson"), ...key);
  assert.is(authentic.status, 0, authentic.stderr);
  assert.match(authentic.stdout, /^AUTHENTIC: .*\nAs of size 9 of cs\.example\.com\/accounts\/acc_/);
  assert.match(authentic.stdout, /1 record of the unknown type OfALaterVersion\./);
  assert.is((await verify(fileOf("full.ndjson"))).status, 3);
  assert.is((await verify(fileOf("tail-cut.ndjson"), ...key)).status, 4);
  const broken = await verify(fileOf("changed-with-hashes.ndjson"), ...key);
  assert.is(broken.status, 5);
  assert.match(broken.stdout, /^BROKEN: .*\nRecord 3: /);
});

test("files that cannot be checked, and keys that are none, are a wrong call and not a broken file", async () => {
  const dir = temporaryFolder();
  try {
    const file = (name: string, text: string): string => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    };
    const full = fileOf("full.ndjson");
    const notes = file("notes.txt", "Nothing of that kind.\n");
    const key = ["--key", KEY.vkey];
    const wrong: readonly [args: readonly string[], sentence: string][] = [
      [[], "verify takes the files to check."],
      [
        [fileOf("there-is-none.ndjson"), ...key],
        'There is no folder or file "test/vectors/evidence/there-is-none.ndjson".',
      ],
      [[full, "--previous", join(dir, "none.txt"), ...key], `There is no file "${join(dir, "none.txt")}".`],
      [[notes, ...key], "The file notes.txt is no export, proof, leaf, checkpoint or consistency proof."],
      [[file("empty", ""), ...key], "The file empty is no export, proof, leaf, checkpoint or consistency proof."],
      [[full, full, ...key], "Give one export, or one proof with its leaf, or one checkpoint."],
      [[fileOf("proof.leaf.json"), ...key], "Give one export, or one proof with its leaf, or one checkpoint."],
      [[full, "--previous", notes, ...key], "What was given as a previous checkpoint is none."],
      [[full, "--key", "0123"], "No verifier key of a log: 0123."],
      [[dir, "--key", "0123"], "No verifier key of a log: 0123."],
      [[full, ...key, "--witness", KEY.vkey], `No verifier key of a witness: ${KEY.vkey}.`],
    ];
    for (const [args, sentence] of wrong) {
      const { status, stdout, stderr } = await verify(...args);
      assert.equal([status, stdout, stderr.split("\n")[0]], [2, "", sentence], args.join(" "));
    }
  } finally {
    removeFolder(dir);
  }
});

test("an export whose first byte was changed is still an export, and broken", async () => {
  const dir = temporaryFolder();
  try {
    const file = join(dir, "export.ndjson");
    writeFileSync(file, readFileSync(fileOf("full.ndjson"), "utf8").replace("{", "["));
    const { status, stdout } = await verify(file, "--key", KEY.vkey);
    assert.is(status, 5);
    assert.match(stdout, /^BROKEN: .*\nline 1: it is no line of an export/);
  } finally {
    removeFolder(dir);
  }
});

test("a proof and its leaf, and a checkpoint against an earlier one, are checked from files", async () => {
  const key = ["--key", KEY.vkey];
  const proof = await verify(fileOf("proof.tlog-proof"), fileOf("proof.leaf.json"), ...key);
  assert.is(proof.status, 0, proof.stdout);
  const later = fileOf("checkpoints.later.txt");
  const both = await verify(later, fileOf("checkpoints.consistency.json"), "--previous", later, ...key);
  assert.is(both.status, 4, "the consistency proof begins at another size");
  assert.match(both.stdout, /Missing: a previous checkpoint of \S+ with 5 records, .* consistency proof from 5 to 9\./);
  const same = await verify(later, "--previous", later, ...key, "--json");
  assert.is(same.status, 0, same.stdout);
  assert.is(JSON.parse(same.stdout).head.origin, new EvidenceWorld().origin);
});

test.run();
