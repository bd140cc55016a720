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

const DAY_MS = 86_400_000;

/** From yesterday to `to`. */
const evidence = (client: Client, out: string, framework: string, to = new Date()) => {
  const from = new Date(to.getTime() - DAY_MS);
  const period = ["--from", from.toISOString(), "--to", to.toISOString()];
  const env = { COUNTERSIGN_URL: program.url, COUNTERSIGN_API_KEY: client.key };
  return countersign(["evidence", ...period, "--framework", framework, "--out", out, "--json"], { env });
};

test("it is authentic under the service's key, its records meet its claims, and one changed byte in any file is named", async () => {
  const client = await signUp(program.url);
  await history(client);
  const to = new Date();
  await sealedAll(client);
  const key = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim().split("\n")[0] ?? "";
  for (const framework of ["soc2", "generic"]) {
    const out = join(folder, framework);
    const made = await evidence(client, out, framework, to);
    assert.is(made.status, 0, made.stderr);
    const { signed_by } = JSON.parse(made.stdout) as { signed_by: string };
    const authentic = await countersign(["verify", out, "--key", key, "--pack-key", signed_by]);
    assert.is(authentic.status, 0, authentic.stdout + authentic.stderr);
    assert.is((await countersign(["verify", out])).status, 3);
    const { controls } = JSON.parse(readFileSync(join(out, "controls.json"), "utf8"));
    const claims = controls.flatMap(({ claims }: { claims: readonly unknown[] }) => claims);
    const unmet = claims.filter(
      ({ in_export, unanswered }: { in_export: unknown; unanswered: unknown }) =>
        in_export === false || unanswered !== null,
    );
    assert.equal(unmet, []);
    const met = claims
      .filter(({ in_export }: { in_export: unknown }) => in_export === true)
      .map(({ id }: { id: string }) => id);
    for (const id of ["releases-approved", "no-attempt-while-held", "delivered-with-answer", "no-damage"])
      assert.ok(met.includes(id), `${id} is met`);
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

type Claim = { readonly id: string; readonly holds: boolean | null; readonly open: string | null };

test("a claim of absence stays open if the period goes on after the export, or began before it", async () => {
  const client = await signUp(program.url);
  await history(client);
  await sealedAll(client);
  const key = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim().split("\n")[0] ?? "";
  const claimsOf = (out: string): readonly Claim[] =>
    JSON.parse(readFileSync(join(out, "controls.json"), "utf8")).controls.flatMap(
      ({ claims }: { claims: readonly Claim[] }) => claims,
    );
  const undamaged = (out: string) => claimsOf(out).find(({ id }) => id === "no-damage");
  const early = join(folder, "early");
  const made = await evidence(client, early, "generic", new Date(Date.now() + DAY_MS));
  assert.is(made.status, 0, made.stderr);
  assert.match(undamaged(early)?.open ?? "", /before the period's end/);
  const part = join(folder, "part.ndjson");
  const headers = { authorization: `Bearer ${client.key}` };
  const range = await fetch(`${program.url}/v1/audit/export?from_index=5`, { headers });
  writeFileSync(part, await range.text());
  const late = join(folder, "late");
  const args = ["--from", "2020-01-01", "--to", "2100-01-01", "--framework", "generic", "--export", part];
  const partial = await countersign(["evidence", ...args, "--out", late]);
  assert.is(partial.status, 0, partial.stderr);
  assert.match(undamaged(late)?.open ?? "", /the export begins at record 5/);
  for (const out of [early, late]) {
    assert.is(undamaged(out)?.holds, null);
    const { status, stdout } = await countersign(["verify", out, "--key", key]);
    assert.is(status, 0, stdout);
    assert.match(stdout, /Answered for the records in the export alone/);
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
