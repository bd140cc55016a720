import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hookSource, signUp } from "../support/client.ts";
import { countersign, type Ended } from "../support/command-line.ts";
import { engineSets } from "../support/engine-sets.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

type Auditor = { text(path: string): Promise<string>; verify(text: string, ...options: string[]): Promise<Ended> };

const auditor = (program: Program, key: string): Auditor => ({
  /** Asks again as long as nothing is sealed. */
  text: (path) =>
    until(`${path} is answered`, async () => {
      const response = await fetch(`${program.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
      const text = await response.text();
      if (response.status === 409) return null;
      assert.is(response.status, 200, `${path}: ${text}`);
      return text;
    }),
  async verify(text, ...options) {
    const file = join(program.dir, "export.ndjson");
    writeFileSync(file, text);
    return countersign(["verify", file, ...options]);
  },
});

const recordsIn = (text: string): number => text.split("\n").filter((line) => line.includes('"kind":"record"')).length;

for (const { name, open } of engineSets()) {
  const test = suite(`exports on ${name}`);
  test.after.each(killPrograms);

  test("countersign verify ends with 0 for a real export and its key, with 3 without a key, and with 5 if a byte differs", async () => {
    const engines = await open();
    const program = await startProgram(engines.env, temporaryFolder());
    const client = await signUp(program.url);
    const hook = await hookSource(client);
    for (let n = 0; n < 20; n += 1) assert.is((await hook.send(`n-${n}`)).status, 202);
    const { text, verify } = auditor(program, client.key);
    const index = (await client.call("GET", "/v1/audit?limit=1")).body.data[0].index;
    const size = async () => Number((await text("/v1/audit/checkpoint")).split("\n")[1]);
    await until("all records are sealed", async () => (await size()) > index);
    const { data } = (await client.call("GET", `/v1/audit?subject=${hook.id}&order=asc`)).body;
    assert.match(data[0].leaf_hash, /^[0-9a-f]{64}$/);
    assert.equal([data[0].sealed, data[0].witnessed], [true, false]);
    const vkey = (await text("/v1/audit/key")).trim();
    const whole = await text("/v1/audit/export?payloads=1");
    const authentic = await verify(whole, "--key", vkey);
    assert.is(authentic.status, 0, authentic.stdout + authentic.stderr);
    assert.is((await verify(whole)).status, 3);
    const last = whole.lastIndexOf('"leaf":"') + 200;
    const changed = `${whole.slice(0, last)}${whole[last] === "A" ? "B" : "A"}${whole.slice(last + 1)}`;
    assert.is((await verify(changed, "--key", vkey)).status, 5);
    const range = await text(`/v1/audit/export?from_index=3&to_index=${recordsIn(whole) - 2}`);
    assert.is((await verify(range, "--key", vkey)).status, 0);
    const bySource = await until("a key map is sealed", async () => {
      const body = await text(`/v1/audit/export?source_id=${hook.id}`);
      return recordsIn(body) > 20 ? body : null;
    });
    const complete = await verify(bySource, "--key", vkey);
    assert.is(complete.status, 0, complete.stdout);
    await program.stop();
    removeFolder(program.dir);
    await engines.close();
  });

  test.run();
}

const embedded = suite("exports after rotations of the signing key");
embedded.after.each(killPrograms);

embedded("the first key that an auditor knew verifies an export after two rotations", async () => {
  const dir = temporaryFolder();
  let program = await startProgram({}, dir);
  const client = await signUp(program.url);
  const keyOf = async () => (await fetch(`${program.url}/v1/audit/key`)).text();
  const vkey = (await until("a key is named", async () => /\+/.exec(await keyOf()) && keyOf())).trim();
  for (let n = 0; n < 2; n += 1) {
    await program.stop();
    const rotated = await countersign(["audit", "rotate-key", "--reason", "yearly"], { env: { DATA_DIR: dir } });
    assert.is(rotated.status, 0, rotated.stderr);
    program = await startProgram({}, dir);
    await client.at(program.url).make("/v1/policies", { name: `after ${n}`, rate_per_minute: 10 });
  }
  const { text, verify } = auditor(program, client.key);
  const now = await until("the newest key is named", async () => {
    const key = await keyOf();
    return key.includes("+") && key.trim() !== vkey ? key.trim() : null;
  });
  const whole = await until("what was recorded is sealed", async () => {
    const exported = await text("/v1/audit/export");
    return exported.includes('"kind":"handover"') ? exported : null;
  });
  assert.is(whole.match(/"kind":"handover"/g)?.length, 2);
  for (const key of [vkey, now]) {
    const verified = await verify(whole, "--key", key);
    assert.is(verified.status, 0, verified.stdout + verified.stderr);
  }
  await program.stop();
  removeFolder(dir);
});

embedded.run();
