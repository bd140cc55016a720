import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DatabaseSync } from "../../infra/sqlite/driver.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { killPrograms, removeFolder, runProgram, startProgram, temporaryFolder, until } from "../support/program.ts";

/** What an operator does before an upgrade, and to go back. */
const test = suite<{ dir: string; data: string; copy: string }>("backup, and going back to it");
const EXIT_CONFIG = 2;

test.before.each((context) => {
  context.dir = temporaryFolder();
  context.data = join(context.dir, "data");
  context.copy = join(context.dir, "backup");
});
test.after.each(({ dir }) => {
  killPrograms();
  removeFolder(dir);
});

const backUp = (data: string, to: string) => countersign(["backup", "--to", to], { env: { DATA_DIR: data } });

const shows = (client: Client, count: number): Promise<unknown> =>
  until(`${count} events are listed`, async () => {
    const { body } = await client.call("GET", "/v1/events?limit=100");
    return body.data?.length === count;
  });

const setFormat = (path: string, format: number): void => {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${format}`);
  // Into the file itself, so that opening it moves nothing there.
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
};

const formatOf = (path: string): number => {
  const database = new DatabaseSync(path, { readOnly: true });
  const { user_version } = database.prepare("PRAGMA user_version").get() ?? {};
  database.close();
  return Number(user_version);
};

test("a backup that is made while webhooks arrive opens with its keys, and has what was there", async (context) => {
  const { data, copy } = context;
  const program = await startProgram({}, data);
  const client = await signUp(program.url);
  const hook = await hookSource(client);
  for (const id of ["one", "two"]) assert.is((await hook.send(id)).status, 202);
  let isDone = false;
  const sending = (async () => {
    for (let n = 0; !isDone; n += 1) await hook.send(`meanwhile-${n}`);
  })();
  const made = await backUp(data, copy);
  isDone = true;
  await sending;
  assert.is(made.status, 0, made.stderr);
  assert.equal(readdirSync(copy).sort(), ["audit-key", "key", "log.db"]);
  for (const file of readdirSync(copy)) assert.is(statSync(join(copy, file)).mode & 0o077, 0, file);
  const again = await countersign(["backup", "--data-dir", data, "--to", copy]);
  assert.is(again.status, EXIT_CONFIG);
  assert.match(again.stderr, /is not empty: name a folder of its own for each backup/);
  await program.kill();

  const verified = await countersign(["log", "verify", `sqlite:${copy}`]);
  assert.is(verified.status, 0, verified.stderr);
  const restored = await startProgram({}, copy);
  const owner = client.at(restored.url);
  await until("both are listed", async () => (await owner.call("GET", "/v1/events?limit=100")).body.data?.length >= 2);
  assert.is((await hook.at(restored.url).send("one")).body.duplicate, true);
  assert.is((await hook.at(restored.url).send("three")).status, 202);
  assert.is(await restored.stop(), 0);
});

test("data of a newer version are refused with what to do, and the backup from before the upgrade is served", async (context) => {
  const { dir, data, copy } = context;
  const program = await startProgram({}, data);
  const client = await signUp(program.url);
  const hook = await hookSource(client);
  await hook.send("one");
  await shows(client, 1);
  assert.is((await backUp(data, copy)).status, 0);
  await hook.send("after the upgrade");
  assert.is(await program.stop(), 0);

  for (const file of ["log.db", "views.db"]) {
    const newer = join(dir, `newer-${file}`);
    cpSync(data, newer, { recursive: true });
    const path = join(newer, file);
    setFormat(path, formatOf(path) + 1);
    const before = readFileSync(path);
    const { code, stderr } = await runProgram({}, newer);
    assert.is(code, EXIT_CONFIG, stderr);
    assert.match(stderr, /has format \d+, and this version reads format \d+ alone: run the version that wrote it, /);
    if (file === "log.db") assert.match(stderr, /restore the backup that was made before the upgrade/);
    else assert.match(stderr, /delete it .* folded again from the log/);
    assert.ok(readFileSync(path).equals(before), `${file} is left as it is`);
  }

  const back = await startProgram({}, copy);
  await shows(client.at(back.url), 1);
  assert.is(await back.stop(), 0);
});

test("evidence of another format is folded again from the log", async ({ data }) => {
  const first = await startProgram({}, data);
  const client = await signUp(first.url);
  await (await hookSource(client)).send("one");
  assert.is(await first.stop(), 0);
  const path = join(data, "evidence.db");
  const format = formatOf(path);
  setFormat(path, format + 1);
  const second = await startProgram({}, data);
  await until("the evidence is of this version's format", () => formatOf(path) === format);
  const headers = { authorization: `Bearer ${client.key}` };
  await until("the account's records are sealed", async () => {
    const { status } = await fetch(`${second.url}/v1/audit/export`, { headers });
    return status === 200;
  });
  assert.is(await second.stop(), 0);
});

test("a log on a server is not copied, and a folder without a log is named", async ({ data, copy }) => {
  const server = await countersign(["backup", "--to", copy], {
    env: { EVENTSTORE_URL: "esdb://127.0.0.1:1?tls=false" },
  });
  assert.is(server.status, EXIT_CONFIG);
  assert.match(server.stderr, /EVENTSTORE_URL names a server/);
  const none = await backUp(data, copy);
  assert.is(none.status, EXIT_CONFIG);
  assert.match(none.stderr, /There is no log\.db in /);
});

test.run();
