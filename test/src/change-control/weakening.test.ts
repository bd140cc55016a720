import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type Agent, agentAt, defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, type Reply, signUp } from "../../support/client.ts";
import { addMember } from "../../support/members.ts";
import { type PausedLog, pausedLog } from "../../support/paused-log.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("a key cannot weaken a control");
let world: ServiceInProcess;
test.before(async () => {
  world = await serviceInProcess({ SIGNUP_PLAN: "scale" });
});
/** Of tests that start their own. */
const nodes: ServiceInProcess[] = [];
test.after(async () => {
  await Promise.all([world, ...nodes].map((node) => node.stop()));
});

const APPROVAL = { min_approvals: 2, expires_after_s: 3_600 };
/** A port that nothing listens on: nothing that is tested here has to arrive. */
const NOWHERE = "http://127.0.0.1:9/hook";

type Guarded = { readonly client: Client; readonly policy: string; readonly endpoint: string; readonly agent: Agent };

/** An agent whose requests for refunds need two approvals, and a second endpoint and agent for notes. */
const guarded = async (): Promise<Guarded & { readonly notes: string; readonly clerk: Agent }> => {
  const client = await signUp(world.base);
  const { id: policy } = await client.make("/v1/policies", { name: "two", approval: APPROVAL });
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE });
  const { id: notes } = await client.make("/v1/endpoints", { name: "notes", url: NOWHERE });
  await defineAction(client, "refund.create", endpoint);
  await defineAction(client, "note.write", notes);
  const agent = await registerAgent(world.base, client, { policy_id: policy, scope: { actions: ["refund.*"] } });
  const clerk = await registerAgent(world.base, client, { scope: { actions: ["note.write"] } });
  return { client, policy, endpoint, agent, notes, clerk };
};

/** The same rule as a policy of the endpoint, so that it applies whoever asks. */
const floored = async (): Promise<Guarded> => {
  const client = await signUp(world.base);
  const { id: policy } = await client.make("/v1/policies", { name: "two", approval: APPROVAL });
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE, policy_id: policy });
  await defineAction(client, "refund.create", endpoint);
  const agent = await registerAgent(world.base, client);
  return { client, policy, endpoint, agent };
};

const held = async (agent: Agent, key: string, action = "refund.create"): Promise<string> =>
  (await agent.execute(key, { action, payload: { amount: 1 }, wait_ms: 0 })).body.status;

/** Makes a read wait until its view shows what was answered. */
const after = (answer: Reply | undefined): string => `&after=${answer?.headers.get("countersign-position")}`;

const byKey = async (client: Client, method: string, path: string, body: object): Promise<string> => {
  const answer = await client.call(method, path, body);
  assert.is(answer.status, 201, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
};

type Attempt = readonly [what: string, method: string, path: string, body: object | undefined];

const attempts = ({ policy, endpoint, agent, clerk }: Awaited<ReturnType<typeof guarded>>): readonly Attempt[] => [
  ["detaching the policy", "PATCH", `/v1/agents/${agent.id}`, { policy_id: null }],
  ["a second agent without it", "POST", "/v1/agents", { name: "b", scope: { actions: ["refund.*"] } }],
  ["a wider scope", "PATCH", `/v1/agents/${clerk.id}`, { scope: { actions: ["*"] } }],
  ["a new key of the agent", "POST", `/v1/agents/${agent.id}/key`, undefined],
  ["deleting the agent that the approvals hang on", "DELETE", `/v1/agents/${agent.id}`, undefined],
  ["narrowing its scope away", "PATCH", `/v1/agents/${agent.id}`, { scope: { actions: ["note.write"] } }],
  ["a lower quorum", "PUT", `/v1/policies/${policy}`, { name: "two", approval: { ...APPROVAL, min_approvals: 1 } }],
  ["a condition", "PUT", `/v1/policies/${policy}`, { name: "two", approval: { ...APPROVAL, when: "cost_eur > 5.0" } }],
  ["no approvals", "PUT", `/v1/policies/${policy}`, { name: "two" }],
  ["only observing", "PUT", `/v1/policies/${policy}`, { name: "two", approval: APPROVAL, block_on_violation: false }],
  ["a source to the endpoint", "POST", "/v1/sources", { name: "s", type: "hmac", endpoint_id: endpoint }],
  [
    "a second action on the endpoint that another agent may ask for",
    "PUT",
    "/v1/actions/note.write",
    { endpoint_id: endpoint, reversibility: "reversible" },
  ],
  [
    "an undo that reaches the action",
    "PUT",
    "/v1/actions/note.write",
    { endpoint_id: endpoint, reversibility: "compensable", compensation: "refund.create" },
  ],
  ["deleting the action's endpoint", "DELETE", `/v1/endpoints/${endpoint}`, undefined],
];

test("a key is refused each way around the approvals, and nothing changes", async () => {
  const it = await guarded();
  const { client, agent } = it;
  for (const [what, method, path, body] of attempts(it)) {
    const answer = await client.call(method, path, body);
    assert.equal([what, answer.status, answer.body?.code], [what, 403, "person-required"]);
    assert.match(answer.body.detail, /person with a session.*policy_id/, what);
  }
  assert.is(await held(agent, "1"), "held");
  const sources = await client.call("GET", "/v1/sources");
  assert.equal(sources.body.data, []);
});

test("a key cannot delete a guarded action and define it again without its guard", async () => {
  const { client, policy, endpoint, agent, notes } = await guarded();
  // Another action keeps the endpoint guarded.
  await defineAction(client, "refund.again", endpoint, { policy_id: policy });
  for (const name of ["refund.create", "refund.again"]) {
    const { status, body } = await client.call("DELETE", `/v1/actions/${name}`);
    assert.equal([name, status, body?.code], [name, 403, "person-required"]);
  }
  const unguarded = await client.call("DELETE", "/v1/actions/note.write");
  assert.is(unguarded.status, 204);
  const moved = { endpoint_id: notes, reversibility: "reversible" };
  assert.is((await client.call("PUT", "/v1/actions/note.write", moved)).status, 201);
  assert.is(await held(agent, "1"), "held");
});

test("a policy that was refused guards nothing, so no key passes because of it", async () => {
  const { client, policy, agent } = await guarded();
  const headers = { "x-secret": { value: "one", secret: true } };
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "secret", url: NOWHERE, headers });
  await defineAction(client, "refund.secret", endpoint);
  assert.is(await held(agent, "1", "refund.secret"), "held");
  const changes = { policy_id: policy, headers: { "x-secret": { value: "two", secret: true } } };
  const refused = await client.call("PATCH", `/v1/endpoints/${endpoint}`, changes);
  assert.equal([refused.status, refused.body.code], [403, "person-required"]);
  assert.is((await client.call("GET", `/v1/endpoints/${endpoint}`)).body.policy_id, null);
  const made = await client.call("POST", "/v1/agents", { name: "b", scope: { actions: ["refund.secret"] } });
  assert.equal([made.status, made.body.code], [403, "person-required"]);
});

/** Two nodes; the changes of agents on the one wait or fail in `append`. The agent reaches notes alone, without a policy. */
const twoNodes = async (append: (log: EventLog) => EventLog["append"]) => {
  const log = memoryEventLog();
  const fast = await serviceInProcess({}, { log });
  const slow = await serviceInProcess({}, { log: { ...log, append: append(log) } });
  nodes.push(fast, slow);
  const client = await signUp(fast.base);
  const { id: policy } = await client.make("/v1/policies", { name: "two", approval: APPROVAL });
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE });
  await defineAction(client, "refund.create", endpoint);
  await registerAgent(fast.base, client, { policy_id: policy, scope: { actions: ["refund.*"] } });
  const clerk = await registerAgent(fast.base, client, { scope: { actions: ["note.write"] } });
  const path = `/v1/agents/${clerk.id}`;
  return {
    clerk,
    late: () =>
      client.at(slow.base).call("PATCH", path, { name: "late", policy_id: null }, { "idempotency-key": "late" }),
    guard: () => client.call("PATCH", path, { policy_id: policy, scope: { actions: ["refund.create"] } }),
  };
};

test("a change that is appended late removes no policy that another change relied on", async () => {
  let paused: PausedLog | null = null;
  const { clerk, late, guard } = await twoNodes((log) => {
    paused = pausedLog(log, "AgentChanged");
    return paused.log.append;
  });
  // The callback has been called.
  const { reached, goOn } = paused as unknown as PausedLog;
  const answer = late();
  await reached;
  const guarded = await guard();
  assert.is(guarded.status, 200, JSON.stringify(guarded.body));
  goOn();
  const { status, body } = await answer;
  assert.equal([status, body.code], [409, "conflict"]);
  assert.is(await held(clerk, "1"), "held");
});

test("a change that is repeated after a crash is decided on the state in force then", async () => {
  let isCut = false;
  const { clerk, late, guard } = await twoNodes((log) => async (stream, expected, events) => {
    if (events[0]?.type !== "AgentChanged" || isCut) return log.append(stream, expected, events);
    isCut = true;
    throw new LogUnavailable("cut off");
  });
  assert.is((await late()).status, 503);
  const guarded = await guard();
  assert.is(guarded.status, 200, JSON.stringify(guarded.body));
  const { status, body } = await late();
  assert.equal([status, body.code], [403, "person-required"]);
  assert.is(await held(clerk, "1"), "held");
});

test("an hour after a crash the next change corrects what it cut off, and a repeat is recorded anew", async () => {
  const now = { ms: Date.now() };
  const memory = memoryEventLog();
  let isCut = false;
  const log: EventLog = {
    ...memory,
    append(stream, expected, events) {
      if (events[0]?.type !== "AgentChanged" || isCut) return memory.append(stream, expected, events);
      isCut = true;
      throw new LogUnavailable("cut off");
    },
  };
  const node = await serviceInProcess({}, { log, clock: { now: () => now.ms } });
  nodes.push(node);
  const client = await signUp(node.base);
  const { id: policy } = await client.make("/v1/policies", { name: "two", approval: APPROVAL });
  const agent = await registerAgent(node.base, client, { policy_id: policy, scope: { actions: ["refund.*"] } });
  const cut = () => client.call("PATCH", `/v1/agents/${agent.id}`, { name: "cut" }, { "idempotency-key": "cut" });
  assert.is((await cut()).status, 503);
  const records = async (type: string) =>
    (await memory.readAll(null, 1_000)).filter((it) => it.type === type).map(({ data }) => data as never);
  let names = 0;
  const change = async (): Promise<void> => {
    names += 1;
    await client.make("/v1/policies", { name: `policy ${names}` });
  };
  await change();
  assert.equal(await records("ControlsCorrected"), [], "it may still be under way");
  now.ms += 60 * 60 * 1_000;
  await change();
  await change();
  const corrected = await records("ControlsCorrected");
  assert.is(corrected.length, 1);
  const [{ parts }] = corrected as unknown as readonly [{ readonly parts: readonly { part: { name: string } }[] }];
  assert.equal(
    parts.map(({ part }) => part.name),
    [(await client.call("GET", `/v1/agents/${agent.id}`)).body.name],
  );
  const before = (await records("ControlsChanged")).length;
  const repeated = await cut();
  assert.equal([repeated.status, repeated.body.name], [200, "cut"]);
  assert.is((await records("ControlsChanged")).length, before + 1);
});

test("hiding more from approvers takes a person, and is recorded as a weakening", async () => {
  const { client, agent, policy } = await guarded();
  const darker = { name: "dark", approval: APPROVAL, redact: ["amount"] };
  const { body: dark } = await client.call("POST", "/v1/policies", darker);
  const calls: readonly (readonly [string, string, object])[] = [
    ["PATCH", `/v1/agents/${agent.id}`, { policy_id: dark.id }],
    ["POST", "/v1/agents", { name: "b", policy_id: dark.id, scope: { actions: ["refund.*"] } }],
    ["PUT", `/v1/policies/${policy}`, darker],
  ];
  for (const [method, path, body] of calls) {
    const { status, body: said } = await client.call(method, path, body);
    assert.equal([path, status, said.code], [path, 403, "person-required"]);
    assert.match(said.detail, /approver is shown less/);
  }
  const changed = await client.session("PATCH", `/v1/agents/${agent.id}`, { policy_id: dark.id });
  assert.is(changed.status, 200);
  const audit = await client.session("GET", `/v1/audit?type=ControlsWeakened${after(changed)}`);
  assert.match(audit.body.data[0].data.reasons[0], /approver is shown less/);
});

test("of two concurrent versions of a policy, neither replaces one that it was not compared with", async () => {
  const log = memoryEventLog();
  const paused = pausedLog(log, "PolicyPublished");
  const fast = await serviceInProcess({}, { log });
  const slow = await serviceInProcess({}, { log: paused.log });
  nodes.push(fast, slow);
  const client = await signUp(fast.base);
  const { id: policy } = await client.make("/v1/policies", { name: "p", rate_per_minute: 5 });
  const { id: endpoint } = await client.make("/v1/endpoints", { name: "app", url: NOWHERE, policy_id: policy });
  await defineAction(client, "refund.create", endpoint);
  const agent = await registerAgent(fast.base, client);
  const path = `/v1/policies/${policy}`;
  const late = client.at(slow.base).call("PUT", path, { name: "late" });
  await paused.reached;
  const strict = await client.session("PUT", path, { name: "strict", approval: APPROVAL });
  assert.is(strict.status, 200);
  paused.goOn();
  const { status, body } = await late;
  assert.equal([status, body.code], [409, "conflict"]);
  assert.is(await held(agent, "1"), "held");
});

test("a person with a session may weaken a control, and it is recorded", async () => {
  const { client, agent, policy } = await guarded();
  const changed = await client.session("PATCH", `/v1/agents/${agent.id}`, { policy_id: null });
  assert.equal([changed.status, changed.body.policy_id], [200, null]);
  assert.is.not(await held(agent, "1"), "held");
  const audit = await client.session("GET", `/v1/audit?type=ControlsWeakened${after(changed)}`);
  const [record] = audit.body.data;
  assert.equal([audit.body.data.length, record.actor.kind, record.data.change.id], [1, "member", agent.id]);
  assert.equal([record.data.before.policy_id, record.data.change.part.policy_id], [policy, null]);
  assert.match(record.data.reasons[0], /approvals of pol_/);
});

test("without approval rules keys can change the whole configuration", async () => {
  const client = await signUp(world.base);
  const make = (path: string, body: object): Promise<string> => byKey(client, "POST", path, body);
  const policy = await make("/v1/policies", { name: "p", rate_per_minute: 5 });
  const endpoint = await make("/v1/endpoints", { name: "app", url: NOWHERE });
  await byKey(client, "PUT", "/v1/actions/refund.create", { endpoint_id: endpoint, reversibility: "reversible" });
  const agent = await make("/v1/agents", { name: "a", policy_id: policy, scope: { actions: ["*"] } });
  const source = await make("/v1/sources", { name: "s", type: "hmac", endpoint_id: endpoint, policy_id: policy });
  const calls: readonly (readonly [string, string, object?])[] = [
    ["PATCH", `/v1/agents/${agent}`, { policy_id: null }],
    ["POST", `/v1/agents/${agent}/key`],
    ["PUT", `/v1/policies/${policy}`, { name: "p" }],
    ["PATCH", `/v1/sources/${source}`, { policy_id: null }],
    ["POST", `/v1/sources/${source}/secret`, { secret: "another secret of the sender" }],
    ["DELETE", `/v1/sources/${source}`],
    ["DELETE", "/v1/actions/refund.create"],
    ["DELETE", `/v1/agents/${agent}`],
    ["DELETE", `/v1/endpoints/${endpoint}`],
  ];
  for (const [method, path, body] of calls) {
    const { status } = await client.call(method, path, body);
    assert.ok(status === 200 || status === 204, `${method} ${path}: ${status}`);
  }
});

test("under a policy on the endpoint keys may create, widen and renew agents, as all their requests are held", async () => {
  const { client, policy, endpoint, agent } = await floored();
  const scope = { actions: ["refund.create"] };
  const answer = await client.call("POST", "/v1/agents", { name: "b", scope });
  assert.is(answer.status, 201);
  const made = agentAt(world.base, answer.body.id, answer.body.key);
  const calls: readonly (readonly [string, string, object?])[] = [
    ["PATCH", `/v1/agents/${made.id}`, { scope: { actions: ["*"] } }],
    ["POST", `/v1/agents/${agent.id}/key`],
    ["DELETE", `/v1/agents/${agent.id}`],
    ["POST", "/v1/sources", { name: "s", type: "hmac", endpoint_id: endpoint }],
    ["PUT", "/v1/actions/refund.again", { endpoint_id: endpoint, reversibility: "reversible" }],
    ["PUT", `/v1/policies/${policy}`, { name: "three", approval: { ...APPROVAL, min_approvals: 3 } }],
  ];
  for (const [method, path, body] of calls) {
    const { status, body: said } = await client.call(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(said)}`);
  }
  assert.equal([await held(made, "1"), await held(made, "2", "refund.again")], ["held", "held"]);
  const detached = await client.call("PATCH", `/v1/endpoints/${endpoint}`, { policy_id: null });
  assert.equal([detached.status, detached.body.code], [403, "person-required"]);
});

test("of two concurrent changes that together avoid approvals, one is refused", async () => {
  const { client, policy, endpoint } = await guarded();
  const { body } = await client.call("POST", "/v1/agents", {
    ...{ name: "b", policy_id: policy },
    scope: { actions: ["other.*"] },
  });
  // Alone, each is harmless: the agent reaches no refund, and then it needs the approvals.
  const detach = client.call("PATCH", `/v1/agents/${body.id}`, { policy_id: null });
  const define = client.call("PUT", "/v1/actions/other.one", { endpoint_id: endpoint, reversibility: "reversible" });
  const statuses = (await Promise.all([detach, define])).map(({ status }) => status);
  assert.is(statuses.filter((status) => status === 403).length, 1, String(statuses));
});

test("a repeat with the same Idempotency-Key finds the first decision", async () => {
  const { client, agent } = await guarded();
  const once = { "idempotency-key": "detach" };
  const answers: Reply[] = [];
  for (let time = 0; time < 2; time += 1) {
    answers.push(await client.session("PATCH", `/v1/agents/${agent.id}`, { policy_id: null }, once));
  }
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200],
  );
  const audit = await client.session("GET", `/v1/audit?type=ControlsWeakened${after(answers[0])}`);
  assert.is(audit.body.data.length, 1);
});

test("adding an approver is recorded as a weakening if approvals are required", async () => {
  const { client } = await guarded();
  const free = await signUp(world.base);
  for (const [who, weakened] of [
    [client, 2],
    [free, 0],
  ] as const) {
    const email = `approver-${weakened}@example.com`;
    const invited = await who.session("POST", "/v1/members/invitations", { email, role: "approver" });
    assert.is(invited.status, 201);
    const viewer = await addMember(who, `v-${email}`);
    const changed = await who.session("PATCH", `/v1/members/${viewer.id}`, { role: "approver" });
    assert.is(changed.status, 200);
    const audit = await who.session("GET", `/v1/audit?type=ControlsWeakened${after(changed)}`);
    assert.is(audit.body.data.length, weakened);
  }
});

test("the approval rules of one account do not bind another", async () => {
  await guarded();
  const other = await signUp(world.base);
  const { id: endpoint } = await other.make("/v1/endpoints", { name: "app", url: NOWHERE });
  await defineAction(other, "refund.create", endpoint);
  await registerAgent(world.base, other);
});

test.run();
