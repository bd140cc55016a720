import { existsSync } from "node:fs";
import { cp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { cosignedBy } from "../../domain/evidence/cosignature.ts";
import { INSTANCE_STREAM } from "../../domain/evidence/instance-events.ts";
import { formatSignerKey, parseNote, parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import { HOURLY_STREAM, WITNESSED_STREAM } from "../../domain/evidence/witness-events.ts";
import { ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { vkeyOf } from "../../src/keys/signer-key.ts";
import { makeSigningKey } from "../../src/sealing/signing-key.ts";
import { signUp } from "../support/client.ts";
import { engineSets, locationsIn } from "../support/engine-sets.ts";
import { type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { startWitness } from "../support/witness-program.ts";

const HOST = "hooks.example.com";

/** A signing key that the test knows, because the witness is started before the service has sealed anything. */
const signingKeyIn = async (dir: string): Promise<{ readonly path: string; readonly vkey: string }> => {
  const key = makeSigningKey(HOST, randomness);
  const path = join(dir, "signing-key");
  await writeFile(path, `${formatSignerKey(key)}\n`, { mode: 0o600 });
  return { path, vkey: vkeyOf(key) };
};

const policyIn = async (dir: string, lines: readonly string[]): Promise<string> => {
  const path = join(dir, "policy");
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
};

type Ready = { readonly checks: Record<string, string>; readonly informational: Record<string, string> };
const readyOf = async ({ url }: Program): Promise<Ready> => (await (await fetch(`${url}/ready`)).json()) as Ready;

const metric = async ({ url }: Program, name: string): Promise<number> => {
  const line = (await (await fetch(`${url}/metrics`)).text()).split("\n").find((it) => it.startsWith(name));
  return Number(line?.split(" ").at(-1) ?? 0);
};

for (const { name, open } of engineSets()) {
  const test = suite(`a witnessed service on ${name}`);

  test("what is sealed is witnessed, beside a witness that hangs, and without any of them all goes on", async () => {
    const engines = await open();
    const dir = temporaryFolder();
    const key = await signingKeyIn(dir);
    const witness = await startWitness([
      "--log",
      key.vkey,
      "--state",
      join(dir, "witness"),
      "--name",
      "example.com/w1",
    ]);
    const hanging = createServer(() => undefined).listen(0, "127.0.0.1");
    await until("the hanging server listens", () => hanging.listening);
    const other = await startWitness(["--log", key.vkey, "--state", join(dir, "other"), "--name", "example.com/w2"]);
    await other.kill();
    const policy = await policyIn(dir, [
      `log ${key.vkey}`,
      `witness one ${witness.vkey} ${witness.url}/`,
      `witness two ${other.vkey} http://127.0.0.1:${(hanging.address() as AddressInfo).port}`,
      "group any1 any one two",
      "quorum any1",
    ]);
    const env = { ...engines.env, AUDIT_KEY_FILE: key.path, AUDIT_WITNESSES: policy, AUDIT_WITNESS_MODE: "closed" };
    const program = await startProgram(env, dir);
    const client = await signUp(program.url);
    const log = await openLog(locationsIn(engines, dir).log, { readOnly: true });
    const record = await until("a checkpoint is recorded", () => log.last(WITNESSED_STREAM));
    const note = parseNote(String(record.data.note));
    const witnessKey = parseVerifierKey(sha256, witness.vkey);
    assert.ok(note !== null && witnessKey !== null);
    assert.type(await cosignedBy(ed25519Verify, note, witnessKey), "object");
    assert.match(note.text, /^hooks\.example\.com\/instance\n/);
    await until("one is kept for the hour", () => log.last(HOURLY_STREAM));
    assert.is((await readyOf(program)).informational.witnesses, "ok");
    assert.ok(
      (await metric(program, 'countersign_witness_calls_total{witness="example.com/w1",outcome="cosigned"}')) > 0,
    );
    await witness.kill();
    const sealed = (await log.last(INSTANCE_STREAM))?.revision ?? 0;
    await client.make("/v1/policies", { name: "after", rate_per_minute: 10 });
    await until("records are sealed without a witness", async () => {
      const last = await log.last(INSTANCE_STREAM);
      return last !== null && last.revision > sealed;
    });
    await until("the missing quorum shows", async () => (await readyOf(program)).informational.witnesses === "failing");
    assert.ok((await fetch(`${program.url}/ready`)).ok);
    const said = program.output().match(/The witness example\.com\/w1 cannot be reached/g) ?? [];
    assert.is(said.length, 1, program.output());
    await log.close();
    const began = performance.now();
    assert.is(await program.stop(), 0);
    assert.ok(performance.now() - began < 60_000, "no witness keeps the service from stopping");
    hanging.closeAllConnections();
    hanging.close();
    removeFolder(dir);
    await engines.close();
  });

  test.run();
}

const embedded = suite("witnesses of a log that was rolled back");

const LOG_FILES = ["log.db", "log.db-wal", "log.db-shm"];

/** Replaces the log's files: what one has not, the other has not afterwards. */
const copyLog = async (from: string, to: string): Promise<void> => {
  for (const file of LOG_FILES) {
    await rm(join(to, file), { force: true });
    if (existsSync(join(from, file))) await cp(join(from, file), join(to, file));
  }
};

const sizeSeen = async (witness: Awaited<ReturnType<typeof startWitness>>, origin: string): Promise<number> => {
  const hash = Buffer.from(sha256(Buffer.from(origin))).toString("hex");
  const response = await fetch(`${witness.url}/${hash}/checkpoint`);
  return response.ok ? Number((await response.text()).split("\n")[1]) : 0;
};

embedded("an operator who rolls back the log and removes the file beside the key is found by a witness", async () => {
  const [dir, older] = [temporaryFolder(), temporaryFolder()];
  const key = await signingKeyIn(dir);
  const witness = await startWitness(["--log", key.vkey, "--state", join(dir, "witness")]);
  const policy = await policyIn(dir, [`witness one ${witness.vkey} ${witness.url}`, "quorum one"]);
  const env = { AUDIT_KEY_FILE: key.path, AUDIT_WITNESSES: policy };
  const origin = `${HOST}/instance`;
  const first = await startProgram(env, dir);
  const client = await signUp(first.url);
  await until("the account is witnessed", async () => (await sizeSeen(witness, origin)) >= 2);
  await first.stop();
  await copyLog(dir, older);
  const before = await sizeSeen(witness, origin);
  const second = await startProgram(env, dir);
  await client.at(second.url).make("/v1/policies", { name: "one", rate_per_minute: 10 });
  await until("more is witnessed", async () => (await sizeSeen(witness, origin)) > before);
  await second.stop();
  const witnessed = await sizeSeen(witness, origin);
  await copyLog(older, dir);
  await rm(`${key.path}.checkpoint`, { force: true });
  const third = await startProgram(env, dir);
  let number = 0;
  await until("the roll back is found", async () => {
    number += 1;
    // The log grows beyond what the witness has seen, so that the two histories can be compared.
    await client.at(third.url).make("/v1/policies", { name: `fork ${number}`, rate_per_minute: 10 });
    return (await readyOf(third)).informational.sealing === "failing";
  });
  assert.match(third.output(), /Nothing is signed: The witness \S+ proves that this log was rolled back or changed/);
  assert.is(await sizeSeen(witness, origin), witnessed);
  await client.at(third.url).make("/v1/policies", { name: "admitted", rate_per_minute: 10 });
  await third.stop();
  await witness.stop();
  for (const folder of [dir, older]) removeFolder(folder);
});

embedded.run();
