import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { addMember } from "../support/members.ts";
import { type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const test = suite("an evidence pack of the running program");
let program: Program;
let target: Receiver;
const folder = temporaryFolder();

test.before(async () => {
  [program, target] = await Promise.all([startProgram(), receiver()]);
});
test.after(async () => {
  await program.stop();
  await target.close();
  removeFolder(program.dir);
  removeFolder(folder);
});

const eventIs = (client: Client, id: string, status: string) =>
  until(`${id} is ${status}`, async () => {
    const { body } = await client.call("GET", `/v1/events/${id}`);
    return body.status === status;
  });

const well = async (answer: ReturnType<Client["session"]>) => {
  const { status, body } = await answer;
  assert.ok(status < 300, JSON.stringify(body));
  return body;
};

/** Decisions, a hold that is approved and one that is rejected, an erasure, a member who leaves, and keys that change. */
const history = async (client: Client): Promise<void> => {
  const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
  const policy = await client.make("/v1/policies", {
    name: "large ones",
    deny: [{ name: "no very large ones", when: "payload.amount > 5000" }],
    approval: { when: "payload.amount > 500", expires_after_s: 3_600 },
  });
  const source = await hookSource(client, { endpoint_id: app.id, policy_id: policy.id });
  const sent = async (id: string, amount: number) => (await source.send(id, { amount })).body;
  const small = await sent("small", 1);
  await eventIs(client, small.event_id, "delivered");
  await source.send("small", { amount: 1 });
  await source.send("forged", { amount: 1 }, { "x-signature": "0".repeat(64) });
  assert.is((await source.send("refused", { amount: 9_000 })).status, 422);
  const decide = async (id: string, decision: "approve" | "reject") => {
    const { approval_id } = await sent(id, 900);
    const { digest } = await until(`approval ${approval_id} is shown`, async () => {
      const shown = await client.session("GET", `/v1/approvals/${approval_id}`);
      return shown.status === 200 ? shown.body : null;
    });
    await well(client.session("POST", `/v1/approvals/${approval_id}/${decision}`, { digest, comment: "as agreed" }));
  };
  await decide("large", "approve");
  await decide("too-large", "reject");
  await until("what was approved arrives", () => target.arrivals.length >= 2);
  await well(client.session("DELETE", `/v1/events/${small.event_id}/payload`, { reason: "a customer asked" }));
  const { id: member } = await addMember(client, `leaves-${process.pid}@example.com`, "approver");
  await well(client.session("DELETE", `/v1/members/${member}`));
  const key = await client.make("/v1/api-keys", { name: "short", role: "viewer" });
  await well(client.session("DELETE", `/v1/api-keys/${key.id}`));
};

const sealedAll = (client: Client): Promise<boolean> =>
  until("a checkpoint covers the newest record", async () => {
    const newest = await client.call("GET", "/v1/audit?order=desc&limit=1");
    const { status, body } = await client.call("GET", "/v1/audit/checkpoint");
    const size = status === 200 ? parseCheckpoint(parseNote(body)?.text ?? "")?.size : undefined;
    return size !== undefined && size > newest.body.data[0].index;
  });

const evidence = (client: Client, out: string, framework: string) => {
  const day = 86_400_000;
  const at = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const period = ["--from", at(Date.now() - day), "--to", at(Date.now() + day)];
  const env = { COUNTERSIGN_URL: program.url, COUNTERSIGN_API_KEY: client.key };
  return countersign(["evidence", ...period, "--framework", framework, "--out", out, "--json"], { env });
};

test("it is authentic under the service's key, its claims hold, and one changed byte in any file is named", async () => {
  const client = await signUp(program.url);
  await history(client);
  await sealedAll(client);
  const key = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim().split("\n")[0] ?? "";
  for (const framework of ["soc2", "generic"]) {
    const out = join(folder, framework);
    const made = await evidence(client, out, framework);
    assert.is(made.status, 0, made.stderr);
    const { signed_by } = JSON.parse(made.stdout) as { signed_by: string };
    const authentic = await countersign(["verify", out, "--key", key, "--pack-key", signed_by]);
    assert.is(authentic.status, 0, authentic.stdout + authentic.stderr);
    assert.is((await countersign(["verify", out])).status, 3);
    const { controls } = JSON.parse(readFileSync(join(out, "controls.json"), "utf8"));
    const claims = controls.flatMap(({ claims }: { claims: readonly unknown[] }) => claims);
    const unmet = claims.filter(
      ({ holds, unanswered }: { holds: unknown; unanswered: unknown }) => holds === false || unanswered !== null,
    );
    assert.equal(unmet, []);
    const held = claims.filter(({ holds }: { holds: unknown }) => holds === true).map(({ id }: { id: string }) => id);
    for (const id of ["releases-approved", "no-attempt-while-held", "delivered-with-answer", "no-damage"])
      assert.ok(held.includes(id), `${id} holds`);
  }
  const out = join(folder, "soc2");
  for (const name of readdirSync(out)) {
    const bytes = readFileSync(join(out, name));
    const changed = Buffer.from(bytes);
    const at = Math.floor(bytes.length / 3);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(join(out, name), changed);
    const broken = await countersign(["verify", out, "--key", key]);
    assert.is(broken.status, 5, name);
    assert.ok(broken.stdout.includes(`\n${name}: `), broken.stdout);
    writeFileSync(join(out, name), bytes);
  }
});

test("a call that the service refuses leaves no folder, and the next one makes a pack", async () => {
  const client = await signUp(program.url);
  await sealedAll(client);
  const out = join(folder, "cut");
  const revoked = await evidence({ ...client, key: `${client.key}x` }, out, "generic");
  assert.is(revoked.status, 1, revoked.stderr);
  assert.not(existsSync(out));
  const made = await evidence(client, out, "generic");
  assert.is(made.status, 0, made.stderr);
});

test.run();
