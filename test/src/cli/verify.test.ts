import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countersign } from "../../support/command-line.ts";
import { EvidenceWorld, KEY } from "../../support/evidence-world.ts";

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
  assert.is((await verify(fileOf("there-is-none.ndjson"), ...key)).status, 1);
  assert.is((await verify()).status, 2);
});

test("a proof and its leaf, and a checkpoint against an earlier one, are checked from files", async () => {
  const key = ["--key", KEY.vkey];
  const proof = await verify(fileOf("proof.tlog-proof"), fileOf("proof.leaf.json"), ...key);
  assert.is(proof.status, 0, proof.stdout);
  const later = fileOf("checkpoints.later.txt");
  const both = await verify(later, fileOf("checkpoints.consistency.json"), "--previous", later, ...key);
  assert.is(both.status, 5, "the consistency proof begins at another size");
  const same = await verify(later, "--previous", later, ...key, "--json");
  assert.is(same.status, 0, same.stdout);
  assert.is(JSON.parse(same.stdout).head.origin, new EvidenceWorld().origin);
});

test.run();
