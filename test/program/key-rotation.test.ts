import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hookSource, persistently, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { killPrograms, removeFolder, runProgram, startProgram, temporaryFolder } from "../support/program.ts";

/** A new server's key, on the machine and while the service runs. */
const test = suite<{ dir: string }>("a rotation of the server's key");

test.before.each((context) => {
  context.dir = temporaryFolder();
});
test.after.each(({ dir }) => {
  killPrograms();
  removeFolder(dir);
});

test("the running service goes on, and sessions, keys and secrets hold after a restart; the old key is refused", async ({
  dir,
}) => {
  const first = await startProgram({}, dir);
  const client = await signUp(first.url);
  const hook = await hookSource(client);
  assert.is((await hook.send("before")).status, 202);
  const old = readFileSync(join(dir, "key"), "utf8");
  copyFileSync(join(dir, "key"), join(dir, "old-key"));

  const { status, stdout, stderr } = await countersign(["key", "rotate"], { env: { DATA_DIR: dir } });
  assert.is(status, 0, stderr);
  assert.match(stdout, /^The keys in the log are sealed under the new key in \S+key\.\n$/);
  assert.match(stderr, /A person with both can read the\nearlier records/);
  assert.match(stderr, /API keys/);
  assert.is.not(readFileSync(join(dir, "key"), "utf8"), old);
  assert.is((await client.call("GET", "/v1/sources")).status, 200);
  assert.is((await hook.send("between")).status, 202);
  await first.stop();

  const second = await startProgram({ PORT: String(new URL(first.url).port) }, dir);
  assert.is((await client.call("GET", "/v1/sources")).status, 200);
  assert.is((await hook.send("after")).status, 202);
  assert.is((await hook.send("before")).status, 200);
  await second.stop();

  copyFileSync(join(dir, "old-key"), join(dir, "key"));
  const refused = await runProgram({}, dir);
  assert.is(refused.code, 2);
  assert.match(refused.stderr, /^The keys in the event log are sealed under another COUNTERSIGN_KEY: [^\n]*\n$/);
});

test("with COUNTERSIGN_KEY the new key is named, and the next start takes it alone", async ({ dir }) => {
  const [one = "", two = "", three = ""] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString("base64"));
  await (await startProgram({ COUNTERSIGN_KEY: one }, dir)).stop();
  const rotate = (env: Record<string, string>) => countersign(["key", "rotate"], { env: { DATA_DIR: dir, ...env } });
  assert.match((await rotate({ COUNTERSIGN_KEY: one })).stderr, /^COUNTERSIGN_NEW_KEY is missing: /);
  assert.match((await rotate({ COUNTERSIGN_KEY: two, COUNTERSIGN_NEW_KEY: three })).stderr, /another COUNTERSIGN_KEY/);
  const rotated = await rotate({ COUNTERSIGN_KEY: one, COUNTERSIGN_NEW_KEY: two });
  assert.is(rotated.status, 0, rotated.stderr);
  assert.match(rotated.stderr, /^Set COUNTERSIGN_KEY to the new key and restart every node/);
  assert.is((await runProgram({ COUNTERSIGN_KEY: one }, dir)).code, 2);
  await (await startProgram({ COUNTERSIGN_KEY: two }, dir)).stop();
});

test("two nodes go on while the keys are sealed anew, and are restarted with the new key one after the other", async ({
  dir,
}) => {
  const double = await startEventStoreDouble();
  const [current = "", next = ""] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));
  const shared = { EVENTSTORE_URL: double.url, COUNTERSIGN_KEY: current };
  const [one, two] = await Promise.all([
    startProgram(shared, join(dir, "one")),
    startProgram(shared, join(dir, "two")),
  ]);
  const client = await signUp(one.url);
  const hook = await hookSource(client);
  assert.is((await hook.send("before")).status, 202);
  const rotated = countersign(["key", "rotate"], { env: { ...shared, COUNTERSIGN_NEW_KEY: next } });
  let isRotated = false;
  void rotated.finally(() => {
    isRotated = true;
  });
  // Both nodes write for as long as it takes.
  for (let n = 0; !isRotated; n += 1) {
    const at = hook.at(n % 2 === 0 ? two.url : one.url);
    assert.is((await persistently(() => at.send(`during-${n}`))).status, 202);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { status, stderr } = await rotated;
  assert.is(status, 0, stderr);
  await one.stop();
  const again = await startProgram({ ...shared, COUNTERSIGN_KEY: next }, join(dir, "one"));
  for (const { url } of [again, two]) {
    assert.is((await client.at(url).session("GET", "/v1/auth/me")).status, 200);
    assert.is((await client.at(url).call("GET", "/v1/sources")).status, 200);
    assert.is((await hook.at(url).send("before")).status, 200);
  }
  // What one node makes holds at the other, though they were started with different keys.
  const made = await client.at(again.url).session("POST", "/v1/api-keys", { name: "new", role: "viewer" });
  const bearer = { authorization: `Bearer ${made.body.key}` };
  assert.is((await client.at(two.url).call("GET", "/v1/events", undefined, bearer)).status, 200);
  const hookAtTwo = await hookSource(client.at(two.url));
  assert.is((await hookAtTwo.at(again.url).send("after")).status, 202);
  await two.stop();
  const refused = await runProgram(shared, join(dir, "two"));
  assert.is(refused.code, 2);
  assert.match(refused.stderr, /^The keys in the event log are sealed under another COUNTERSIGN_KEY: [^\n]*\n$/);
  await again.stop();
  await double.stop();
});

test.run();
