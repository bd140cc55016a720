import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hookSource, signUp } from "../support/client.ts";
import { countersign, type Ended } from "../support/command-line.ts";
import { engineSets } from "../support/engine-sets.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { receiver } from "../support/receiver.ts";

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

const recordLeaves = (text: string): readonly { readonly type: string }[] =>
  text
    .split("\n")
    .filter((line) => line.includes('"kind":"record"'))
    .map((line) => JSON.parse(Buffer.from(JSON.parse(line).leaf, "base64").toString()));

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
    await until("the newest event is sealed", async () => {
      const { data } = (await client.call("GET", "/v1/audit?type=EventAdmitted&order=desc&limit=100")).body;
      return data.length === 20 && data[0].sealed;
    });
    // Views follow the log, so the source's first record may be shown later than another, and be sealed later too.
    const first = await until("the source's first record is sealed", async () => {
      const { data } = (await client.call("GET", `/v1/audit?subject=${hook.id}&order=asc`)).body;
      return data.length > 0 && data[0].sealed ? data[0] : null;
    });
    assert.match(first.leaf_hash, /^[0-9a-f]{64}$/);
    assert.is(first.witnessed, false);
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
    // While others write, the newest map is behind the checkpoint: the export has the records between them.
    const other = await hookSource(client);
    let sent = 0;
    // Payloads follow a record of the source itself, and of no other source.
    const ofTail = /^(\{"kind":"tail".*\n)(\{"kind":"payload".*\n)+/m;
    const busy = await until("the checkpoint has records that the key map does not cover", async () => {
      sent += 1;
      await hook.send(`own-${sent}`);
      await other.send(`other-${sent}`);
      const body = await text(`/v1/audit/export?source_id=${hook.id}&payloads=1`);
      return ofTail.test(body) ? body : null;
    });
    const whilstBusy = await verify(busy, "--key", vkey, "--json");
    assert.is(whilstBusy.status, 0, whilstBusy.stdout);
    const { complete: proved, head, payloads } = JSON.parse(whilstBusy.stdout);
    assert.is(payloads.withheld, 0);
    const withheld = await verify(busy.replace(ofTail, "$1"), "--key", vkey);
    assert.is(withheld.status, 4, withheld.stdout);
    assert.is(proved.size, head.size);
    const newest = (/^\{"kind":"tail".*\n/m.exec(busy) ?? [""])[0];
    const hidden = await verify(busy.replace(newest, ""), "--key", vkey);
    assert.is(hidden.status, 5, hidden.stdout);
    await program.stop();
    removeFolder(program.dir);
    await engines.close();
  });

  test("an export with payloads opens what came in and what was answered, and says of both that they are erased", async () => {
    const engines = await open();
    const target = await receiver();
    const program = await startProgram(engines.env, temporaryFolder());
    const client = await signUp(program.url);
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
    const hook = await hookSource(client, { endpoint_id: app.id });
    const { event_id: kept } = (await hook.send("kept")).body;
    const { event_id: erased } = (await hook.send("erased")).body;
    for (const id of [kept, erased])
      await until("it is delivered", async () => {
        const { body } = await client.call("GET", `/v1/events/${id}`);
        return body.status === "delivered";
      });
    const erasure = await client.session("DELETE", `/v1/events/${erased}/payload`, { reason: "a customer asked" });
    assert.ok(erasure.status < 300, JSON.stringify(erasure.body));
    const { text, verify } = auditor(program, client.key);
    const vkey = (await text("/v1/audit/key")).trim();
    const whole = await until("the erasure is sealed", async () => {
      const exported = await text("/v1/audit/export?payloads=1");
      const types = recordLeaves(exported).map(({ type }) => type);
      return types.includes("PayloadErased") ? exported : null;
    });
    const opened = whole.split("\n").flatMap((line) => /"kind":"payload","id":"([^"]+)"/.exec(line)?.[1] ?? []);
    const ofEvents = opened.filter((id) => id.startsWith("evt_"));
    assert.equal(ofEvents, [`${kept}/0`, `${kept}/0/headers`, `${kept}/0/attempts/1/headers`, `${kept}/0/attempts/1`]);
    const authentic = await verify(whole, "--key", vkey, "--json");
    assert.is(authentic.status, 0, authentic.stdout + authentic.stderr);
    const report = JSON.parse(authentic.stdout);
    assert.equal([report.payloads.erased, report.payloads.withheld], [4, 0]);
    assert.equal(
      report.erased.map(({ id }: { id: string }) => id),
      [`${erased}/0`, `${erased}/0/headers`, `${erased}/0/attempts/1/headers`, `${erased}/0/attempts/1`],
    );
    // The record of the erasure names the event, and not its source, and is beyond the range.
    const source = await until("the key map covers the source's records", async () => {
      const exported = await text(`/v1/audit/export?source_id=${hook.id}&payloads=1`);
      return exported.includes(`"id":"${kept}/0"`) && exported.includes('"kind":"erasure"') ? exported : null;
    });
    const erasedAt = recordLeaves(whole).findIndex(({ type }) => type === "PayloadErased");
    const range = await text(`/v1/audit/export?to_index=${erasedAt}&payloads=1`);
    // The records of attempts do not name the source.
    for (const [part, count] of [
      [source, 2],
      [range, 4],
    ] as const) {
      const { status, stdout } = await verify(part, "--key", vkey, "--json");
      const { payloads, erased: listed } = JSON.parse(stdout);
      assert.equal([status, payloads.erased, payloads.withheld], [0, count, 0], stdout);
      assert.is(listed[0].by, report.erased[0].by);
      assert.is(part.match(/"kind":"erasure"/g)?.length, 1);
      const line = part.split("\n").find((it) => it.includes('"kind":"erasure"')) ?? "";
      const { hashes, ...rest } = JSON.parse(line);
      const forged = [
        { ...rest, hashes: hashes.slice(1) },
        { ...rest, hashes, leaf: JSON.parse(part.split("\n")[1] ?? "").leaf },
      ];
      for (const it of forged) {
        const refused = await verify(part.replace(line, JSON.stringify(it)), "--key", vkey);
        assert.is(refused.status, 5, refused.stdout);
      }
      assert.is((await verify(part.replace(`${line}\n`, ""), "--key", vkey)).status, 4);
    }
    await target.close();
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
