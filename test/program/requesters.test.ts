import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, clientAt, hookSource, persistently, signUp } from "../support/client.ts";
import { addMember, MEMBER_PASSWORD, tokenOf } from "../support/members.ts";
import { type Program, removeFolder, startProgram } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const test = suite("who counts as the requester");
let program: Program;
let target: Receiver;

test.before(async () => {
  [program, target] = await Promise.all([startProgram(), receiver()]);
});
test.after(async () => {
  await program.stop();
  await target.close();
  removeFolder(program.dir);
});

let people = 0;

type Person = { readonly id: string; session: Client["session"] };

/** Another member of the account; the owner invites and the person accepts. */
const member = async (owner: Client, role: "admin" | "approver"): Promise<Person> => {
  people += 1;
  const { id, cookie } = await addMember(owner, `member-${process.pid}-${people}@example.com`, role);
  return { id, session: clientAt(program.url, { ...owner, cookie }).session };
};

const APPROVAL = { exclude_requester: true, expires_after_s: 3_600 };

/** An account whose action `refund.create` needs an approval, whoever asks for it. */
const world = async (approval: object = APPROVAL) => {
  const client = await signUp(program.url);
  const me = await client.session("GET", "/v1/auth/me");
  const owner: Person = { id: me.body.member.id, session: client.session };
  const made = async (path: string, body: unknown) => {
    const answer = await client.session("POST", path, body);
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const { id: policy_id } = await made("/v1/policies", { name: "asked", approval });
  const { id: endpoint_id } = await made("/v1/endpoints", { name: "app", url: target.url });
  const action = { endpoint_id, policy_id, reversibility: "irreversible" };
  assert.is((await client.session("PUT", "/v1/actions/refund.create", action)).status, 201);
  const agent = { name: "refunds", policy_id, scope: { actions: ["refund.*"] } };
  return { client, owner, made, policy_id, endpoint_id, agent };
};

/** What the agent with this key asks for, held. */
const asked = async (key: string): Promise<string> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": `k-${key}` };
  const body = JSON.stringify({ action: "refund.create", payload: { amount: 1 } });
  const answer = await fetch(`${program.url}/v1/execute`, { method: "POST", headers, body });
  const { approval_id } = (await answer.json()) as { approval_id: string };
  assert.is(answer.status, 202);
  return approval_id;
};

const shown = async ({ session }: Person, id: string) => (await session("GET", `/v1/approvals/${id}`)).body;

const approve = async ({ session }: Person, id: string) => {
  const { digest } = (await session("GET", `/v1/approvals/${id}`)).body;
  const { status, body } = await persistently(() => session("POST", `/v1/approvals/${id}/approve`, { digest }));
  return { status, code: body.code, body };
};

test("who made the agent's key does not approve what it asks for, also through an API key that is revoked by then", async () => {
  const { client, owner, made, agent } = await world();
  const ben = await member(client, "approver");
  const byHand = await made("/v1/agents", agent);
  const key = await made("/v1/api-keys", { name: "a key that makes keys", role: "admin" });
  const withKey = { authorization: `Bearer ${key.key}`, cookie: "" };
  const byKey = await client.session("POST", "/v1/agents", agent, withKey);
  assert.is(byKey.status, 201, JSON.stringify(byKey.body));
  assert.is((await client.session("DELETE", `/v1/api-keys/${key.id}`)).status, 204);

  for (const agentKey of [byHand.key, byKey.body.key]) {
    const id = await asked(agentKey);
    const { requesters, can_decide } = await shown(ben, id);
    assert.equal([requesters, can_decide], [[owner.id], [ben.id]]);
    const own = await approve(owner, id);
    assert.equal([own.status, own.code], [403, "self-approval"]);
    const { status, body } = await approve(ben, id);
    assert.equal([status, body.can_decide], [200, []]);
  }
});

test("after a rotation it is whoever made the new key", async () => {
  const { client, owner, made, agent } = await world();
  const cid = await member(client, "admin");
  const { id: agentId } = await made("/v1/agents", agent);
  const rotated = await cid.session("POST", `/v1/agents/${agentId}/key`);
  assert.is(rotated.status, 200, JSON.stringify(rotated.body));
  const id = await asked(rotated.body.key);
  assert.equal((await shown(owner, id)).requesters, [cid.id]);
  assert.is((await approve(cid, id)).code, "self-approval");
  assert.is((await approve(owner, id)).status, 200);
});

test("who replays with an API key of theirs, and who made the source's secret, do not approve", async () => {
  const { client, owner, made, policy_id, endpoint_id } = await world();
  const [cid, ben] = [await member(client, "admin"), await member(client, "approver")];
  const strict = await made("/v1/policies", { name: "strict", deny: [{ name: "all", when: "true" }] });
  const settings = { name: "s", type: "hmac", secret: "a secret of the sender", policy_id: strict.id, endpoint_id };
  const source = await cid.session("POST", "/v1/sources", { ...settings, dedupe: { header: "X-Delivery-Id" } });
  assert.is(source.status, 201, JSON.stringify(source.body));
  const hook = await hookSource({ ...client, make: async () => source.body });
  const blocked = await hook.send("d-1", { amount: 1 });
  assert.is(blocked.status, 422);
  const { status } = await client.session("PATCH", `/v1/sources/${source.body.id}`, { policy_id });
  assert.is(status, 200);
  const event = blocked.body.event_id;
  const replayed = await client.call("POST", `/v1/events/${event}/replay`);
  assert.equal([replayed.status, replayed.body.status], [202, "held"], JSON.stringify(replayed.body));
  const id = replayed.body.approval_id;
  assert.equal((await shown(ben, id)).requesters.toSorted(), [cid.id, owner.id].toSorted());
  for (const who of [owner, cid]) assert.is((await approve(who, id)).code, "self-approval");
  assert.is((await approve(ben, id)).status, 200);
});

test("a policy that only the requester could approve is published with a warning", async () => {
  const { client, made } = await world({ expires_after_s: 60 });
  const warned = await made("/v1/policies", { name: "alone", approval: APPROVAL });
  assert.equal(
    warned.warnings.map(({ path }: { path: string }) => path),
    ["/approval/exclude_requester"],
  );
  assert.match(warned.warnings[0].message, /^1 member can approve .* Invite another approver\.$/);
  const two = await made("/v1/policies", { name: "two", approval: { min_approvals: 2, expires_after_s: 60 } });
  assert.equal(
    two.warnings.map(({ path }: { path: string }) => path),
    ["/approval/min_approvals"],
  );
  assert.equal((await made("/v1/policies", { name: "none" })).warnings, []);
  await member(client, "approver");
  const again = await client.session("PUT", `/v1/policies/${warned.id}`, { name: "alone", approval: APPROVAL });
  assert.equal([again.status, again.body.warnings], [200, []]);
});

test("an approval says which voter was invited or reset by the requester or by another voter", async () => {
  const { client, owner, made, agent } = await world({ min_approvals: 3, expires_after_s: 3_600 });
  const [ben, cid] = [await member(client, "approver"), await member(client, "approver")];
  const reset = await client.session("POST", `/v1/members/${cid.id}/reset`);
  const used = { token: tokenOf(reset.body.reset_url), password: `${MEMBER_PASSWORD} again` };
  const back = await client.session("POST", "/v1/auth/reset", used, { cookie: "" });
  assert.is(back.status, 200, JSON.stringify(back.body));
  const cookie = back.headers.get("set-cookie")?.split(";")[0] ?? "";
  const cidAgain = { id: cid.id, session: clientAt(program.url, { ...client, cookie }).session };
  const id = await asked((await made("/v1/agents", agent)).key);
  assert.equal((await shown(owner, id)).hand_overs, []);
  assert.is((await approve(ben, id)).status, 200);
  const { hand_overs } = (await approve(cidAgain, id)).body;
  const links = hand_overs.map(({ at: _, ...it }: { at: string }) => it);
  assert.equal(links, [
    { member_id: ben.id, link: "invitation", by: owner.id },
    { member_id: cid.id, link: "invitation", by: owner.id },
    { member_id: cid.id, link: "reset", by: owner.id },
  ]);
});

test.run();
