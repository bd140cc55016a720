import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM } from "../../domain/evidence/instance-events.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import { sqliteLogIn } from "../../src/engine/open-engines.ts";
import { type Client, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

/** What an operator does after a disk was lost, with a backup and, perhaps, the newest checkpoint. */
const test = suite<{ dir: string; data: string; copy: string }>("restoring a backup that is older than a checkpoint");

test.before.each((context) => {
  context.dir = temporaryFolder();
  context.data = join(context.dir, "data");
  context.copy = join(context.dir, "backup");
});
test.after.each(({ dir }) => {
  killPrograms();
  removeFolder(dir);
});

const besideIn = (dir: string): string => join(dir, "audit-key.checkpoint");

const shownIn = (dir: string): number => {
  try {
    return parseCheckpoint(parseNote(readFileSync(besideIn(dir), "utf8"))?.text ?? "")?.size ?? 0;
  } catch {
    return 0;
  }
};

const sealsIn = async (dir: string) =>
  (await readLogAt(sqliteLogIn(dir))).filter(({ stream }) => stream === INSTANCE_STREAM);

const leavesIn = async (dir: string): Promise<number> =>
  (await sealsIn(dir)).flatMap((event) => fieldOf(event, "heads") ?? "a key").length;

const sealing = async ({ url }: Program): Promise<string> => {
  const body = (await (await fetch(`${url}/ready`)).json()) as { informational: Record<string, string> };
  return body.informational.sealing ?? "";
};

const backUp = async (data: string, copy: string): Promise<void> => {
  const { status, stderr } = await countersign(["backup", "--to", copy], { env: { DATA_DIR: data } });
  assert.is(status, 0, stderr);
};

/** Asks again as long as nothing is sealed. */
const audit = (program: Program, { key }: Client, path: string): Promise<string> =>
  until(`${path} is answered`, async () => {
    const answer = await fetch(`${program.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return answer.status === 200 ? answer.text() : null;
  });

type BackedUp = {
  readonly client: Client;
  /** The account's checkpoints that an auditor has kept, from before the backup and from after it. */
  readonly kept: { readonly before: string; readonly after: string };
};

/** A service that has sealed more since its backup. It has ended. */
const backedUp = async (data: string, copy: string, env: Record<string, string> = {}): Promise<BackedUp> => {
  const program = await startProgram(env, data);
  const client = await signUp(program.url);
  const beside = env.AUDIT_KEY_FILE === undefined ? data : join(env.AUDIT_KEY_FILE, "..");
  await until("the account is sealed", () => shownIn(beside) >= 2);
  const kept = await audit(program, client, "/v1/audit/checkpoint");
  await backUp(data, copy);
  const before = await leavesIn(copy);
  await client.make("/v1/policies", { name: "after the backup", rate_per_minute: 10 });
  await until("a checkpoint was shown that the backup has not", () => shownIn(beside) > before);
  // Other records may be sealed before, such as the first use of the key, which the backup has.
  const after = await until("the account's checkpoint covers the policy", async () => {
    const { data: found } = JSON.parse(await audit(program, client, "/v1/audit?type=PolicyPublished"));
    return found[0]?.sealed === true ? audit(program, client, "/v1/audit/checkpoint") : null;
  });
  await program.stop();
  return { client, kept: { before: kept, after } };
};

test("a restore beside a newer checkpoint signs nothing until the log is reopened", async ({ data, copy }) => {
  const { client } = await backedUp(data, copy);
  cpSync(besideIn(data), besideIn(copy));
  const sealed = (await sealsIn(copy)).length;
  const restored = await startProgram({}, copy);
  await until("the older log is found", async () => (await sealing(restored)) === "failing");
  await client.at(restored.url).make("/v1/policies", { name: "admitted meanwhile", rate_per_minute: 10 });
  const refused = await fetch(`${restored.url}/v1/audit/instance/checkpoint`);
  assert.ok(refused.status >= 400, "no checkpoint is shown");
  await restored.stop();
  assert.is((await sealsIn(copy)).length, sealed);
  const reopened = await countersign(["audit", "reopen", "--reason", "restored"], { env: { DATA_DIR: copy } });
  assert.is(reopened.status, 0, reopened.stderr);
  const again = await startProgram({}, copy);
  await until("the log is sealed again", async () => (await sealsIn(copy)).length > sealed + 1);
  assert.is(await sealing(again), "ok");
  assert.is(await again.stop(), 0);
});

test("a restore without a checkpoint signs nothing, and is reopened at the one that an auditor has", async ({
  dir,
  data,
  copy,
}) => {
  const { client, kept } = await backedUp(data, copy);
  const newest = join(dir, "newest.txt");
  cpSync(besideIn(data), newest);
  const restored = await startProgram({}, copy);
  await until("the missing checkpoint is found", async () => (await sealing(restored)) === "failing");
  assert.match(restored.output(), /the last checkpoint that was shown is not beside the signing key/);
  await restored.stop();
  const env = { DATA_DIR: copy };
  const reopen = (checkpoint: string) =>
    countersign(["audit", "reopen", "--reason", "restored", "--checkpoint", checkpoint], { env });
  const text = readFileSync(newest, "utf8");
  const foreign = join(dir, "foreign.txt");
  writeFileSync(foreign, text.replace("/instance\n", ".example/instance\n"));
  assert.match((await reopen(foreign)).stderr, /and this log is that of/);
  const reopened = await reopen(newest);
  assert.is(reopened.status, 0, reopened.stderr);
  const [named] = (await sealsIn(copy)).slice(-1);
  assert.is(named && fieldOf(named, "previous"), parseNote(text)?.text);
  const again = await startProgram({}, copy);
  await until(
    "a checkpoint of the new generation is shown",
    () => /\/2\/instance\n/.test(readFileSync(besideIn(copy), "utf8")) && shownIn(copy) >= 2,
  );
  assert.is(await sealing(again), "ok");

  // Whoever kept a checkpoint of the generation before learns what happened, and whether anything of it was lost.
  const vkey = (await audit(again, client, "/v1/audit/key")).trim();
  const file = join(dir, "export.ndjson");
  writeFileSync(file, await audit(again, client, "/v1/audit/export"));
  const verify = (previous: string) => {
    const path = join(dir, "kept.txt");
    writeFileSync(path, previous);
    return countersign(["verify", file, "--key", vkey, "--previous", path]);
  };
  const continued = await verify(kept.before);
  assert.is(continued.status, 0, continued.stdout);
  assert.match(continued.stdout, /Note: the log was reopened after a restore, with the reason "restored"/);
  const lost = await verify(kept.after);
  assert.is(lost.status, 4, lost.stdout);
  assert.match(lost.stdout, /^INCOMPLETE: records that the earlier checkpoint covered are gone or were changed/);
  assert.match(lost.stdout, /Missing: .* previous checkpoint has.* the log was reopened as generation 2 after/);
  assert.is(await again.stop(), 0);
});

test("with AUDIT_KEY_FILE the newest checkpoint stays beside the key, and a restored log is not signed", async ({
  dir,
  data,
  copy,
}) => {
  const keys = join(dir, "keys");
  mkdirSync(keys);
  const env = { AUDIT_KEY_FILE: join(keys, "audit-key") };
  const made = await countersign(["audit", "make-key", "localhost"]);
  writeFileSync(env.AUDIT_KEY_FILE, made.stdout, { mode: 0o600 });
  await backedUp(data, copy, env);
  rmSync(data, { recursive: true });
  const restored = await startProgram(env, copy);
  await until("the older log is found", async () => (await sealing(restored)) === "failing");
  await restored.stop();
  const reopened = await countersign(["audit", "reopen", "--reason", "restored"], { env: { DATA_DIR: copy, ...env } });
  assert.is(reopened.status, 0, reopened.stderr);
});

test.run();
