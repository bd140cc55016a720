import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, hookSource, type Reply, signUp } from "../../support/client.ts";
import { addMember } from "../../support/members.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("a policy on an action or an endpoint");
let world: ServiceInProcess;
let target: Receiver;
test.before(async () => {
  [world, target] = await Promise.all([serviceInProcess({ SIGNUP_PLAN: "scale" }), receiver()]);
});
test.after(async () => {
  await world.stop();
  await target.close();
});

const HOLD = { expires_after_s: 3_600 };

const policyWith = async (client: Client, more: object): Promise<{ readonly id: string; readonly version: number }> =>
  client.make("/v1/policies", { name: "p", ...more });

const endpointUnder = (client: Client, policy_id: string | null): Promise<{ readonly id: string }> =>
  client.make("/v1/endpoints", { name: "app", url: target.url, ...(policy_id === null ? {} : { policy_id }) });

const ask = (agent: Agent, key: string, action = "refund.create", payload: unknown = { amount: 900 }) =>
  agent.execute(key, { action, payload, wait_ms: 0 });

/** Makes a read wait until its view shows what was answered. */
const after = ({ headers }: Reply): string => `?after=${headers.get("countersign-position")}`;

const gatesOf = (body: { verdict: { gates: readonly { gate: string; outcome: string; policy?: { id: string } }[] } }) =>
  body.verdict.gates.map(({ gate, outcome, policy }) => `${gate} ${outcome} ${policy?.id ?? ""}`.trim());

test("the policy of an action applies to an agent that has none, and to one made after it", async () => {
  const client = await signUp(world.base);
  const app = await endpointUnder(client, null);
  const floor = await policyWith(client, { approval: HOLD });
  const before = await registerAgent(world.base, client);
  await defineAction(client, "note.write", app.id);
  await defineAction(client, "refund.create", app.id, { policy_id: floor.id });
  const after = await registerAgent(world.base, client);
  for (const agent of [before, after]) {
    const held = await ask(agent, "1");
    assert.equal([held.status, held.body.status], [202, "held"]);
    assert.equal(held.body.verdict.policy, { id: floor.id, version: 1 });
    assert.is.not((await ask(agent, "2", "note.write")).body.status, "held");
  }
});

test("the policy of an endpoint applies to agents and to sources", async () => {
  const client = await signUp(world.base);
  const floor = await policyWith(client, { deny: [{ name: "large", when: "payload.amount > 500" }] });
  const app = await endpointUnder(client, null);
  await defineAction(client, "refund.create", app.id);
  const agent = await registerAgent(world.base, client);
  const source = await hookSource(client, { endpoint_id: app.id });
  const changed = await client.call("PATCH", `/v1/endpoints/${app.id}`, { policy_id: floor.id });
  assert.equal([changed.status, changed.body.policy_id], [200, floor.id]);
  assert.equal([(await ask(agent, "1")).status, (await source.send("1", { amount: 900 })).status], [422, 422]);
  assert.is((await source.send("2", { amount: 1 })).status, 202);
});

test("the strictest of several policies decides, and the verdict lists the gates of each", async () => {
  const client = await signUp(world.base);
  const own = await policyWith(client, { deny: [{ name: "huge", when: "payload.amount > 5000" }] });
  const onAction = await policyWith(client, {
    approval: { ...HOLD, when: "payload.amount > 500", min_approvals: 2, exclude_requester: true },
  });
  const onEndpoint = await policyWith(client, { approval: { expires_after_s: 600, when: "payload.amount > 100" } });
  const app = await endpointUnder(client, onEndpoint.id);
  await defineAction(client, "refund.create", app.id, { policy_id: onAction.id });
  const agent = await registerAgent(world.base, client, { policy_id: own.id });

  const huge = await ask(agent, "1", "refund.create", { amount: 9_000 });
  assert.equal([huge.status, huge.body.code], [422, "gate-content"]);
  const held = await ask(agent, "2");
  assert.is(held.body.status, "held");
  const refs = [own, onAction, onEndpoint].map(({ id }) => ({ id, version: 1 }));
  assert.equal(held.body.verdict.policies, refs);
  assert.equal(held.body.verdict.policy, refs[0]);
  assert.equal(gatesOf(held.body), [
    "scope allow",
    `content allow ${own.id}`,
    `approval hold ${onAction.id}`,
    `approval hold ${onEndpoint.id}`,
  ]);
  // The larger quorum, the earliest end, every condition.
  const shown = (await client.session("GET", `/v1/approvals/${held.body.approval_id}`)).body;
  assert.equal([shown.min_approvals, shown.reasons.length], [2, 2]);
  assert.is(Date.parse(shown.expires_at) - Date.parse(shown.requested_at), 600_000);
  // Only the rule that holds has a say.
  const small = await ask(agent, "3", "refund.create", { amount: 200 });
  const { min_approvals } = (await client.session("GET", `/v1/approvals/${small.body.approval_id}`)).body;
  assert.is(min_approvals, 1);
});

test("one policy on the agent, the action and the endpoint is checked and counted once", async () => {
  const client = await signUp(world.base);
  const policy = await policyWith(client, { cost: { fixed_eur: 1 }, budget_eur_day: 2 });
  const app = await endpointUnder(client, policy.id);
  await defineAction(client, "refund.create", app.id, { policy_id: policy.id });
  const agent = await registerAgent(world.base, client, { policy_id: policy.id });
  const statuses = [];
  for (const key of ["1", "2", "3"]) statuses.push((await ask(agent, key)).status);
  assert.equal(statuses.at(-1), 429);
  assert.ok(
    statuses.slice(0, 2).every((status) => status < 300),
    String(statuses),
  );
});

test("the budgets of both policies are reserved, or neither", async () => {
  const client = await signUp(world.base);
  const own = await policyWith(client, { cost: { fixed_eur: 1 }, budget_eur_day: 10, rate_per_minute: 50 });
  const floor = await policyWith(client, { cost: { fixed_eur: 2 }, budget_eur_day: 4 });
  const app = await endpointUnder(client, floor.id);
  await defineAction(client, "refund.create", app.id);
  const agent = await registerAgent(world.base, client, { policy_id: own.id });
  const answers = await Promise.all(["1", "2", "3", "4", "5"].map((key) => ask(agent, key)));
  assert.is(answers.filter(({ status }) => status < 300).length, 2);
  assert.ok(answers.every(({ status }) => status < 300 || status === 429));
  for (const { id } of [own, floor]) {
    const { body } = await client.call("GET", `/v1/policies/${id}/ledger`);
    // Each request costs what the policy says that makes it cost most.
    assert.is(body.reserved_eur + body.settled_eur, 4, `${id} ${JSON.stringify(body)}`);
  }
});

test("a policy that only observes does not permit what another one forbids", async () => {
  const client = await signUp(world.base);
  const deny = [{ name: "large", when: "payload.amount > 500" }];
  const observing = await policyWith(client, { deny, block_on_violation: false });
  const app = await endpointUnder(client, null);
  await defineAction(client, "refund.create", app.id);
  const agent = await registerAgent(world.base, client, { policy_id: observing.id });
  const observed = await ask(agent, "1");
  assert.equal([observed.status < 300, observed.body.verdict.observed], [true, true]);
  const floor = await policyWith(client, { deny });
  await client.call("PATCH", `/v1/endpoints/${app.id}`, { policy_id: floor.id });
  assert.is((await ask(agent, "2")).status, 422);
});

test("a bundle passes the policies of its steps' actions and endpoints, each for its own steps", async () => {
  const client = await signUp(world.base);
  const schema = { type: "object", required: ["amount"] };
  const floor = await policyWith(client, { schema, approval: HOLD, rate_per_minute: 1 });
  const app = await endpointUnder(client, null);
  await defineAction(client, "note.write", app.id);
  await defineAction(client, "refund.create", app.id, { policy_id: floor.id });
  const agent = await registerAgent(world.base, client);
  const notes = [{ action: "note.write", payload: { text: "a" } }];
  assert.is((await agent.bundle("1", notes)).body.status, "committed");
  const held = await agent.bundle("2", [...notes, { action: "refund.create", payload: { amount: 1 } }]);
  assert.equal([held.status, held.body.status], [202, "held"]);
  assert.equal(held.body.verdict.policies, [{ id: floor.id, version: 1, steps: [1] }]);
  const refused = await agent.bundle("3", [...notes, { action: "refund.create", payload: {} }]);
  assert.equal([refused.status, refused.body.code], [422, "gate-schema"]);
});

test("a step whose payload is known late has to pass the policy of its action", async () => {
  const client = await signUp(world.base);
  const floor = await policyWith(client, { deny: [{ name: "none", when: "payload.found == true" }] });
  const app = await endpointUnder(client, null);
  await defineAction(client, "note.read", app.id);
  await defineAction(client, "refund.create", app.id, { policy_id: floor.id });
  const agent = await registerAgent(world.base, client);
  const steps = [
    { action: "note.read", payload: {} },
    { action: "refund.create", payload: { found: { $result: { step: 0, pointer: "/ok" } } } },
  ];
  const ended = await agent.bundle("1", steps);
  assert.equal(
    [ended.body.status, ended.body.steps?.[1]?.status],
    ["rolled_back", "skipped"],
    JSON.stringify(ended.body),
  );
});

test("a replay of a blocked event has to pass the endpoint's current policy", async () => {
  const client = await signUp(world.base);
  const own = await policyWith(client, { deny: [{ name: "large", when: "payload.amount > 500" }] });
  const app = await endpointUnder(client, null);
  const source = await hookSource(client, { endpoint_id: app.id, policy_id: own.id });
  const blocked = await source.send("1", { amount: 900 });
  assert.is(blocked.status, 422);
  const floor = await policyWith(client, { approval: HOLD });
  await client.call("PATCH", `/v1/endpoints/${app.id}`, { policy_id: floor.id });
  await client.session("PATCH", `/v1/sources/${source.id}`, { policy_id: null });
  const replayed = await client.session("POST", `/v1/events/${blocked.body.event_id}/replay`, {});
  assert.is(replayed.status, 202, JSON.stringify(replayed.body));
  const event = (await client.session("GET", `/v1/events/${blocked.body.event_id}${after(replayed)}`)).body;
  assert.equal([event.status, event.verdict.policy.id], ["held", floor.id]);
});

test("fields that any of the policies redacts are hidden below admin", async () => {
  const client = await signUp(world.base);
  const own = await policyWith(client, { redact: ["card"] });
  const floor = await policyWith(client, { redact: ["iban"] });
  const app = await endpointUnder(client, floor.id);
  const source = await hookSource(client, { endpoint_id: app.id, policy_id: own.id });
  const sent = await source.send("1", { card: "4111", iban: "DE00", amount: 1 });
  const made = await client.session("POST", "/v1/api-keys", { name: "v", role: "viewer" });
  const shown = await fetch(`${world.base}/v1/events/${sent.body.event_id}/payload${after(sent)}`, {
    headers: { authorization: `Bearer ${made.body.key}` },
  });
  const text = await shown.text();
  assert.not.match(text, /4111|DE00/);
  assert.match(text, /amount/);
});

test("an approver reveals hidden fields only if each policy that hides any allows it", async () => {
  const client = await signUp(world.base);
  const reveal = { approval: { ...HOLD, reveal: ["approver"] }, redact: ["card"] };
  const own = await policyWith(client, reveal);
  const silent = await policyWith(client, { redact: ["iban"] });
  const app = await endpointUnder(client, null);
  await defineAction(client, "refund.create", app.id);
  const agent = await registerAgent(world.base, client, { policy_id: own.id });
  const approver = await addMember(client, `approver-${process.pid}@example.com`, "approver");
  const revealed = async (key: string): Promise<number> => {
    const held = await ask(agent, key, "refund.create", { card: "4111", iban: "DE00", key });
    const path = `/v1/approvals/${held.body.approval_id}/reveal`;
    return (await client.session("POST", path, undefined, { cookie: approver.cookie })).status;
  };
  assert.is(await revealed("1"), 200);
  await client.session("PATCH", `/v1/endpoints/${app.id}`, { policy_id: silent.id });
  assert.is(await revealed("2"), 403);
});

test("a policy of another account cannot be put on an action or an endpoint", async () => {
  const [client, other] = [await signUp(world.base), await signUp(world.base)];
  const foreign = await policyWith(other, {});
  const app = await endpointUnder(client, null);
  const { id: policy_id } = foreign;
  const onEndpoint = await client.call("PATCH", `/v1/endpoints/${app.id}`, { policy_id });
  const made = await client.call("POST", "/v1/endpoints", { name: "app", url: target.url, policy_id });
  const definition = { endpoint_id: app.id, reversibility: "reversible", policy_id };
  const onAction = await client.call("PUT", "/v1/actions/refund.create", definition);
  assert.equal([onEndpoint.status, made.status, onAction.status], [404, 404, 404]);
});

test.run();
