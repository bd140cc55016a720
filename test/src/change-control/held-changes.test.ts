import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { approval } from "../../../domain/approval/decider.ts";
import { FORM_NOT_STATED } from "../../../domain/approval/events.ts";
import { EMPTY } from "../../../domain/change-control/configuration.ts";
import { dataOf } from "../../../domain/events.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { approvalStream } from "../../../src/approvals/approvals.ts";
import { controls } from "../../../src/change-control/controls.ts";
import { appliedChanges, holdChange } from "../../../src/change-control/held-changes.ts";
import { liftProtection } from "../../../src/cli/lift-protection.ts";
import { orphanedPersonalData } from "../../../src/retention/orphaned-personal-data.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { changeStream } from "../../../src/streams/change-stream.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { accountsWorld } from "../../support/accounts-world.ts";
import type { Reply } from "../../support/client.ts";
import { type Client, signUp } from "../../support/client.ts";
import { failingLog } from "../../support/failing-log.ts";
import { addMember } from "../../support/members.ts";
import { pausedLog } from "../../support/paused-log.ts";
import { addressed } from "../../support/personal-words.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("a protected policy");
let world: ServiceInProcess;
test.before(async () => {
  world = await serviceInProcess({ SIGNUP_PLAN: "scale" });
});
test.after(async () => {
  await world.stop();
});

const APPROVAL = { min_approvals: 2, exclude_requester: false, expires_after_s: 3_600 };
const NOWHERE = "http://127.0.0.1:9/hook";
const DAY_MS = 24 * 60 * 60 * 1_000;
const planOf = async () => PLANS.scale;
let people = 0;

type As = (method: string, path: string, body?: object) => Promise<Reply>;

/** An account with a protected policy on an endpoint and an action, and a second person who can approve. */
const guarded = async (second: "approver" | "viewer" = "approver") => {
  const client = await signUp(world.base);
  people += 1;
  const email = `second-${process.pid}-${people}@example.com`;
  const member = await addMember(client, email, second);
  const other: As = (method, path, body) => client.session(method, path, body, { cookie: member.cookie });
  const definition = { name: "two", approval: APPROVAL, protected: true };
  const { id: policy } = await client.make("/v1/policies", definition);
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE, policy_id: policy });
  const { id: plain } = await client.make("/v1/endpoints", { name: "plain", url: NOWHERE });
  const agent = { name: "a", policy_id: policy, scope: { actions: ["*"] } };
  const put = await client.session("PUT", "/v1/actions/refund", { endpoint_id: plain, reversibility: "reversible" });
  assert.is(put.status, 201);
  const { id: agentId } = await client.make("/v1/agents", agent);
  return { client, other, member, policy, endpoint, agentId, definition };
};

const shown = async (client: Client, id: string) => (await client.session("GET", `/v1/approvals/${id}`)).body;

test("a change that weakens the policy is held, shown side by side, approved by its own quorum and applied once", async () => {
  const { client, other, endpoint, policy } = await guarded();
  const path = `/v1/endpoints/${endpoint}`;
  const byKey = await client.call("PATCH", path, { policy_id: null });
  assert.equal([byKey.status, byKey.body.code], [403, "person-required"]);
  const held = await client.session("PATCH", path, { policy_id: null });
  assert.equal([held.status, held.body.status], [202, "held"]);
  const { approval_id, change_id } = held.body;
  const approval = await shown(client, approval_id);
  assert.equal(
    [approval.status, approval.change_id, approval.min_approvals, approval.event_id],
    ["pending", change_id, 2, null],
  );
  assert.equal(approval.change, {
    target: { kind: "endpoint", id: endpoint },
    before: { policy_id: policy },
    after: { policy_id: null },
  });
  assert.is((await client.session("GET", path)).body.policy_id, policy, "nothing is changed before");

  const vote = { digest: approval.digest };
  const first = await client.session("POST", `/v1/approvals/${approval_id}/approve`, vote);
  assert.equal([first.status, first.body.status], [200, "pending"]);
  const second = await other("POST", `/v1/approvals/${approval_id}/approve`, vote);
  assert.equal([second.status, second.body.status], [200, "consumed"], JSON.stringify(second.body));
  assert.is((await client.session("GET", path)).body.policy_id, null);
  const weakened = second.headers.get("countersign-position");
  const audit = await client.session("GET", `/v1/audit?type=ControlsWeakened&after=${weakened}`);
  assert.is(audit.body.data.length, 1);

  // It is applied once: put on again, it stays, whoever votes again.
  assert.is((await client.session("PATCH", path, { policy_id: policy })).status, 200);
  await other("POST", `/v1/approvals/${approval_id}/approve`, vote);
  assert.is((await client.session("GET", path)).body.policy_id, policy);
});

test("the form of a change is kept for its voters together, salted, and an owner can erase it", async () => {
  const { client, other, endpoint } = await guarded();
  const held = await client.session("PATCH", `/v1/endpoints/${endpoint}`, { policy_id: null });
  const { approval_id } = held.body;
  const { digest, shown_digest } = await shown(client, approval_id);
  const vote = (who: As) => who("POST", `/v1/approvals/${approval_id}/approve`, { digest, shown_digest });
  assert.is((await vote(client.session)).status, 200);
  const second = await vote(other);
  assert.is(second.status, 200);
  const after = second.headers.get("countersign-position");
  const audit = `/v1/audit?type=VoteCast&subject=${approval_id}&after=${after}`;
  const votes = (await client.session("GET", audit)).body.data;
  assert.is(votes.length, 2);
  const { shown_form } = votes[0].data;
  assert.equal(votes[1].data.shown_form, shown_form);
  assert.is(shown_form.commitment, shown_digest);
  const form = votes[0].personal[shown_form.id];
  assert.equal(JSON.parse(form).content.change.after, { policy_id: null });
  assert.is.not(createHash("sha256").update(form).digest("hex"), shown_digest);
  assert.is(
    (await shown(client, approval_id)).votes[0].shown_form,
    undefined,
    "an approval's answer has the digest alone",
  );
  const path = `/v1/audit/personal/${shown_form.id}`;
  const erased = await client.session("DELETE", path, { reason: "the owner asked" });
  assert.is(erased.status, 200, JSON.stringify(erased.body));
  const [left] = (await client.session("GET", audit)).body.data;
  assert.equal(left.data, votes[0].data);
  assert.is(left.personal[shown_form.id], undefined);
});

test("a change is not made with fewer approvals than the quorum in force by then", async () => {
  const { client, other, endpoint, policy, definition } = await guarded();
  const path = `/v1/endpoints/${endpoint}`;
  const held = await client.session("PATCH", path, { policy_id: null });
  const raised = { ...definition, approval: { ...APPROVAL, min_approvals: 3 } };
  assert.is((await client.session("PUT", `/v1/policies/${policy}`, raised)).status, 200);
  const { digest } = await shown(client, held.body.approval_id);
  const vote = `/v1/approvals/${held.body.approval_id}/approve`;
  await client.session("POST", vote, { digest });
  await other("POST", vote, { digest });
  assert.is((await client.session("GET", path)).body.policy_id, policy);
});

test("a change approved by its requester is not made if requesters are excluded by then", async () => {
  const { client, other, endpoint, policy, definition } = await guarded();
  const path = `/v1/endpoints/${endpoint}`;
  const held = await client.session("PATCH", path, { policy_id: null });
  const stricter = { ...definition, approval: { ...APPROVAL, exclude_requester: true } };
  assert.is((await client.session("PUT", `/v1/policies/${policy}`, stricter)).status, 200);
  const { digest } = await shown(client, held.body.approval_id);
  const vote = `/v1/approvals/${held.body.approval_id}/approve`;
  await client.session("POST", vote, { digest });
  await other("POST", vote, { digest });
  assert.is((await client.session("GET", path)).body.policy_id, policy);
  assert.is((await shown(client, held.body.approval_id)).status, "void");
});

test("a second policy without protection is no way around the protected one", async () => {
  const { client, endpoint, policy, agentId } = await guarded();
  const { id: loose } = await client.make("/v1/policies", { name: "loose", approval: APPROVAL });
  const swapped = await client.session("PATCH", `/v1/endpoints/${endpoint}`, { policy_id: loose });
  assert.equal([swapped.status, swapped.body.status], [202, "held"]);
  assert.is((await client.session("GET", `/v1/endpoints/${endpoint}`)).body.policy_id, policy);
  const scope = { actions: ["refund"] };
  const made = await client.session("POST", "/v1/agents", { name: "b", policy_id: loose, scope });
  assert.is(made.status, 201, "as many people are asked");
  const loosened = await client.session("PUT", `/v1/policies/${loose}`, { name: "loose" });
  assert.equal([loosened.status, loosened.body.status], [202, "held"]);
  const detached = await client.session("PATCH", `/v1/agents/${made.body.id}`, { policy_id: null });
  assert.equal([detached.status, detached.body.status], [202, "held"]);
  assert.is((await client.session("GET", `/v1/agents/${agentId}`)).body.policy_id, policy);
});

test("hiding more from approvers is held", async () => {
  const { client, policy, definition } = await guarded();
  const { status, body } = await client.session("PUT", `/v1/policies/${policy}`, { ...definition, redact: ["amount"] });
  assert.equal([status, body.status], [202, "held"]);
});

test("a rejected change changes nothing", async () => {
  const { client, other, agentId, policy } = await guarded();
  const held = await client.session("PATCH", `/v1/agents/${agentId}`, { policy_id: null });
  assert.is(held.status, 202);
  const { digest } = await shown(client, held.body.approval_id);
  const path = `/v1/approvals/${held.body.approval_id}/reject`;
  const rejected = await other("POST", path, { digest, comment: "no" });
  assert.equal([rejected.status, rejected.body.status], [200, "rejected"]);
  assert.equal(rejected.body.outcome, { status: "rejected", reason: "no" });
  assert.is((await client.session("GET", `/v1/agents/${agentId}`)).body.policy_id, policy);
});

test("a lower quorum, no protection, another action's policy and a new approver are held as well", async () => {
  const { client, policy, definition, agentId } = await guarded();
  const viewer = await addMember(client, `viewer-${process.pid}-${people}@example.com`);
  const attempts: readonly (readonly [string, string, object])[] = [
    ["PUT", `/v1/policies/${policy}`, { ...definition, approval: { ...APPROVAL, min_approvals: 1 } }],
    ["PUT", `/v1/policies/${policy}`, { ...definition, protected: false }],
    ["PATCH", `/v1/members/${viewer.id}`, { role: "approver" }],
    ["PATCH", `/v1/agents/${agentId}`, { policy_id: null }],
  ];
  for (const [method, path, body] of attempts) {
    const { status, body: said } = await client.session(method, path, body);
    assert.equal([path, status, said.status], [path, 202, "held"]);
  }
  const { body } = await client.session("GET", `/v1/policies/${policy}`);
  assert.equal([body.version, body.protected], [1, true]);
  // What cannot be made later is refused, with what to do instead.
  for (const [method, path, more] of [
    ["POST", `/v1/agents/${agentId}/key`, undefined],
    ["POST", "/v1/agents", { name: "b", scope: { actions: ["*"] } }],
    ["POST", "/v1/members/invitations", { email: "third@example.com", role: "approver" }],
  ] as const) {
    const { status, body: said } = await client.session(method, path, more);
    assert.equal([path, status, said.code], [path, 409, "conflict"]);
  }
});

test("a version of the policy is published when it is approved", async () => {
  const { client, other, policy, definition } = await guarded();
  const looser = { ...definition, approval: { ...APPROVAL, min_approvals: 1 } };
  const { body } = await client.session("PUT", `/v1/policies/${policy}`, looser);
  const { digest } = await shown(client, body.approval_id);
  for (const who of [client.session, other]) await who("POST", `/v1/approvals/${body.approval_id}/approve`, { digest });
  const after = (await client.session("GET", `/v1/policies/${policy}`)).body;
  assert.equal([after.version, after.approval.min_approvals], [2, 1]);
});

/** A held version of the policy with a reason; `publish` approves it, and answers the reason that the policy then has. */
const heldWithReason = async (reason: string) => {
  const { client, other, policy, definition } = await guarded();
  const looser = { ...definition, protected: false, reason };
  const { approval_id, change_id } = (await client.session("PUT", `/v1/policies/${policy}`, looser)).body;
  const [held] = await world.log.read(changeStream(change_id), null, 1);
  assert.ok(held);
  // A reason that a person wrote is a commitment in the command.
  const words = dataOf("ChangeHeld", held).command.reason as Words;
  return {
    client,
    words,
    async publish(): Promise<string> {
      const { digest } = await shown(client, approval_id);
      for (const who of [client.session, other]) await who("POST", `/v1/approvals/${approval_id}/approve`, { digest });
      const { version, reason: published } = (await client.session("GET", `/v1/policies/${policy}`)).body;
      assert.is(version, 2);
      return published;
    },
  };
};

test("the reason of a held version is a commitment, which the sweep of what no record names leaves", async () => {
  const { words, publish } = await heldWithReason("one is enough");
  assert.equal(Object.keys(words), ["id", "commitment", "size"]);
  const later = { now: () => Date.now() + 2 * DAY_MS };
  const failed = (error: unknown) => assert.unreachable(String(error));
  await orphanedPersonalData(world.log, later, randomness, failed).sweep(() => false);
  assert.is(await publish(), "one is enough");
});

test("a held change that is repeated after a crash asks for the approval of the change that is held", async () => {
  const { openAccount, log, world: time } = accountsWorld();
  const { account, id } = await openAccount("ana@shop.example");
  const policyId = `pol_${"a".repeat(32)}`;
  const rule = { min_approvals: 1, exclude_requester: false, expires_after_s: 3_600 };
  const part = { protected: true, approval: [rule], rules: [], redact: [], agents: [] } as never; // Only these are read.
  const state = { ...EMPTY, policy: new Map([[policyId, part]]) };
  const at = new Date(time.now).toISOString();
  const envelope = { commandId: "cmd_1", account, actor: { kind: "member", id } as const, trace: NO_TRACE, at };
  const principal = { kind: "member", account, id } as const;
  const hold = (onto: EventLog, words: string) =>
    holdChange(
      { aggregates: aggregates(onto, { now: () => time.now }), planOf },
      { principal, envelope },
      {
        change: { kind: "policy", id: policyId, base: part, changes: null },
        deferred: { command: () => ({ type: "PublishPolicyVersion", policyId, reason: words }), after: null },
        weakened: [{ policyId, why: "it removes the rule" }],
        state,
      },
    );
  const dying = failingLog(log, (stream) => stream.startsWith("approval-"));
  assert.is((await hold(dying, "first").catch((error: Error) => error.name)) as unknown, "LogUnavailable");
  await hold(log, "second");
  const records = await log.readAll(null, 1_000);
  const [held] = records.filter(({ type }) => type === "ChangeHeld");
  const [asked] = records.filter(({ type }) => type === "ApprovalRequested");
  assert.ok(held && asked);
  assert.is(dataOf("ApprovalRequested", asked).digest, dataOf("ChangeHeld", held).approval.digest);
  assert.is(dataOf("ChangeHeld", held).command.reason, "first");
});

test("a version whose reason was erased while it was held is published without it", async () => {
  const { client, words, publish } = await heldWithReason("Bo asked for it");
  const path = `/v1/audit/personal/${words.id}`;
  assert.is((await client.session("DELETE", path, { reason: "Bo left" })).status, 200);
  assert.is(await publish(), "[erased]");
});

test("a change whose base is no longer in force is void", async () => {
  const { client, other, agentId } = await guarded();
  const held = await client.session("PATCH", `/v1/agents/${agentId}`, { policy_id: null });
  const { digest } = await shown(client, held.body.approval_id);
  assert.is((await client.session("PATCH", `/v1/agents/${agentId}`, { name: "renamed" })).status, 200);
  const vote = await other("POST", `/v1/approvals/${held.body.approval_id}/approve`, { digest });
  assert.equal([vote.status, vote.body.code], [409, "conflict"]);
  const { status, reason } = await shown(client, held.body.approval_id);
  assert.is(status, "void", reason);
});

test("after a crash following the deciding vote the reactor applies the change once", async () => {
  const { client, member, agentId, policy } = await guarded();
  const held = await client.session("PATCH", `/v1/agents/${agentId}`, { policy_id: null });
  const { approval_id, change_id } = held.body;
  const { digest } = await shown(client, approval_id);
  const owner = (await client.session("GET", "/v1/auth/me")).body.member.id;
  // The votes are recorded without the route, as by a process that dies behind them.
  const streams = aggregates(world.log, systemClock);
  const members = new Set([owner, member.id]);
  const at = new Date().toISOString();
  for (const id of members) {
    const vote = { member_id: id, ...addressed(`${id}@example.com`), decision: "approve", comment: null, at } as const;
    const command = {
      type: "CastVote",
      account: client.account,
      vote: { ...vote, ...FORM_NOT_STATED },
      digest,
      members,
    };
    const actor = { kind: "member", id } as const;
    const envelope = { commandId: `vote-${id}`, account: client.account, actor, trace: NO_TRACE, at };
    await streams.handle(approval, approvalStream(approval_id), command as never, envelope);
  }
  await until("the change is applied", async () => (await shown(client, approval_id)).status === "consumed");
  assert.is((await client.session("GET", `/v1/agents/${agentId}`)).body.policy_id, null);
  assert.is((await client.session("PATCH", `/v1/agents/${agentId}`, { policy_id: policy })).status, 200);
  const once = appliedChanges({ aggregates: streams, controls: controls({ aggregates: streams, planOf }) });
  const envelope = { commandId: "again", account: client.account, trace: NO_TRACE, at } as const;
  await once.apply(change_id, { ...envelope, actor: { kind: "system", id: "test" } });
  assert.is((await client.session("GET", `/v1/agents/${agentId}`)).body.policy_id, policy);
});

test("an approved change that is appended late replaces nothing that its approvers were not shown", async () => {
  const { client, agentId, policy } = await guarded();
  const { body } = await client.session("PATCH", `/v1/agents/${agentId}`, { policy_id: null });
  const paused = pausedLog(world.log, "AgentChanged");
  const streams = aggregates(paused.log, systemClock);
  const changes = appliedChanges({ aggregates: streams, controls: controls({ aggregates: streams, planOf }) });
  const actor = { kind: "system", id: "test" } as const;
  const at = new Date().toISOString();
  const applied = changes.apply(body.change_id, {
    ...{ commandId: "late", account: client.account },
    actor,
    trace: NO_TRACE,
    at,
  });
  await paused.reached;
  assert.is((await client.session("PATCH", `/v1/agents/${agentId}`, { name: "renamed" })).status, 200);
  paused.goOn();
  await applied;
  const after = (await client.session("GET", `/v1/agents/${agentId}`)).body;
  assert.equal([after.name, after.policy_id], ["renamed", policy]);
  assert.is((await shown(client, body.approval_id)).status, "void");
});

test("a change is refused if fewer people than the quorum could approve it", async () => {
  const { client, endpoint } = await guarded("viewer");
  const answer = await client.session("PATCH", `/v1/endpoints/${endpoint}`, { policy_id: null });
  assert.equal([answer.status, answer.body.code, answer.body.needed], [422, "too-few-approvers", 2]);
});

test("a lift of the protection requested on the machine takes 24 hours, is shown, and can be cancelled", async () => {
  const now = { ms: Date.now() };
  const clock = { now: () => now.ms };
  const later = await serviceInProcess({ SIGNUP_PLAN: "scale" }, { clock });
  const client = await signUp(later.base);
  const { id: policy } = await client.make("/v1/policies", { name: "two", approval: APPROVAL, protected: true });
  const { id } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE, policy_id: policy });
  const detach = () => client.session("PATCH", `/v1/endpoints/${id}`, { policy_id: null });
  assert.is((await detach()).status, 422, "the owner alone cannot approve it");

  const liftsAt = await liftProtection(later.log, policy);
  const path = `/v1/policies/${policy}`;
  assert.is((await client.session("GET", path)).body.protection_lifts_at, liftsAt);
  assert.is(await liftProtection(later.log, policy), liftsAt, "asked again, it is not later");
  now.ms += 23 * 60 * 60 * 1_000;
  assert.is((await detach()).status, 422, "not before its time");
  assert.is((await client.call("DELETE", `${path}/protection-lift`)).status, 403, "no key cancels it");
  const cancelled = await client.session("DELETE", `${path}/protection-lift`);
  assert.is(cancelled.status, 204);
  assert.ok(cancelled.headers.get("countersign-position"));
  now.ms += 2 * 60 * 60 * 1_000;
  assert.is((await detach()).status, 422, "it was cancelled");

  await liftProtection(later.log, policy);
  now.ms += 50 * 60 * 60 * 1_000;
  assert.is((await detach()).status, 200);
  // What is let through afterwards is no second record of it.
  assert.is((await client.session("PATCH", `/v1/endpoints/${id}`, { policy_id: policy })).status, 200);
  assert.is((await detach()).status, 200);
  const types = (await later.log.readAll(null, 1_000))
    .map(({ type }) => type)
    .filter((type) => type.startsWith("Protection"));
  const requested = "ProtectionLiftRequested";
  assert.equal(types, [requested, "ProtectionLiftCancelled", requested, "ProtectionLifted"]);
  await later.stop();
});

test("an account holds as many changes as its plan allows, and those that have ended make room", async () => {
  const memory = memoryEventLog();
  let isCut = true;
  const log: EventLog = {
    ...memory,
    append(stream, expected, events) {
      if (events[0]?.type !== "ChangeHeld" || isCut === false) return memory.append(stream, expected, events);
      isCut = false;
      throw new LogUnavailable("cut off");
    },
  };
  const small = await serviceInProcess({ SIGNUP_PLAN: "free" }, { log });
  const client = await signUp(small.base);
  const once = { min_approvals: 1, expires_after_s: 3_600 };
  const { id: policy } = await client.make("/v1/policies", { name: "one", approval: once, protected: true });
  const { id } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE, policy_id: policy });
  const detach = (headers?: Record<string, string>) =>
    client.session("PATCH", `/v1/endpoints/${id}`, { policy_id: null }, headers);
  assert.is((await detach({ "idempotency-key": "cut" })).status, 503, "its place is taken, and it is not held");
  const max = PLANS.free.counts.held_changes;
  const { limits } = (await client.session("GET", "/v1/capabilities")).body;
  assert.is(limits.held_changes, max);
  const held: Reply[] = [];
  for (let n = 0; n < max; n += 1) held.push(await detach());
  assert.equal(
    held.filter(({ status }) => status !== 202),
    [],
    "the place of the one that was cut off is given away",
  );
  const full = await detach();
  assert.equal([full.status, full.body.code, full.body.limit], [403, "limit-reached", "held_changes"]);
  assert.is((await detach({ "idempotency-key": "cut" })).status, 409);
  const approval = held[0]?.body.approval_id;
  const { digest } = await shown(client, approval);
  const rejected = await client.session("POST", `/v1/approvals/${approval}/reject`, { digest, comment: "no" });
  assert.is(rejected.status, 200);
  await until("there is room", async () => (await detach()).status === 202);
  await small.stop();
});

test("protection needs a rule that asks for approvals", async () => {
  const client = await signUp(world.base);
  const answer = await client.call("POST", "/v1/policies", { name: "p", protected: true });
  assert.equal([answer.status, answer.body.errors[0].path], [422, "/protected"]);
});

test.run();
