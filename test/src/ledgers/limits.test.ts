import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Counts, PLANS } from "../../../domain/account/plans.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, clientAt, type Reply, reply, signUp } from "../../support/client.ts";
import { addMember, MEMBER_PASSWORD as PASSWORD } from "../../support/members.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("what an account may have");

const log = memoryEventLog();
const nodes = [await serviceInProcess({}, { log }), await serviceInProcess({}, { log })] as const;
test.after(async () => {
  for (const node of nodes) await node.stop();
});

const { counts } = PLANS.free;
/** The session that a login or a link opens, as a cookie. */
const enter = async (base: string, path: string, body: object): Promise<string> => {
  const headers = { "content-type": "application/json" };
  const answer = await reply(await fetch(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
  assert.is(answer.status, 200, JSON.stringify(answer.body));
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
};

const URL_OF_APP = "http://127.0.0.1:9/";

/** As if the account had so many already. */
const fill = async ({ account }: Client, kind: keyof Counts, places: number): Promise<void> => {
  const onError = (error: unknown): never => {
    throw error;
  };
  const filled = ledgers({
    log,
    clock: systemClock,
    randomness,
    orphanAgeMs: 0,
    placeStatus: async () => "kept",
    onError,
  });
  const stream = `ledger-${account}-${kind}`;
  await filled.reserve({
    stream,
    account,
    event: "filled",
    limits: { count: Number.MAX_SAFE_INTEGER },
    trace: NO_TRACE,
    places,
  });
  await filled.settleNow({ stream, account, event: "filled", cost: 0, trace: NO_TRACE });
};

type Kind = "delivery_endpoints" | "policies" | "agents" | "actions";
type Made = {
  readonly make: (n: number) => Promise<Reply>;
  readonly remove?: (n: number, made: Reply) => Promise<Reply>;
};

const making = (client: Client, endpointId: string): Readonly<Record<Kind, Made>> => ({
  delivery_endpoints: {
    make: (n) => client.call("POST", "/v1/endpoints", { name: `e${n}`, url: URL_OF_APP }),
    remove: (_n, { body }) => client.call("DELETE", `/v1/endpoints/${body.id}`),
  },
  policies: { make: (n) => client.call("POST", "/v1/policies", { name: `p${n}` }) },
  agents: {
    make: (n) => client.call("POST", "/v1/agents", { name: `a${n}`, scope: { actions: ["*"] } }),
    remove: (_n, { body }) => client.call("DELETE", `/v1/agents/${body.id}`),
  },
  actions: {
    make: (n) =>
      client.call("PUT", `/v1/actions/refund.a${n}`, { endpoint_id: endpointId, reversibility: "reversible" }),
    remove: (n) => client.call("DELETE", `/v1/actions/refund.a${n}`),
  },
});

const KINDS = ["delivery_endpoints", "policies", "agents", "actions"] as const;

for (const kind of KINDS) {
  test(`many at once on two nodes make exactly as many ${kind} as the plan includes, and a victim's are made`, async () => {
    const attacker = await signUp(nodes[0].base);
    const victim = await signUp(nodes[1].base);
    // Actions need an endpoint, which is one of them.
    const endpoint = await attacker.make("/v1/endpoints", { name: "app", url: URL_OF_APP });
    const own = await victim.make("/v1/endpoints", { name: "app", url: URL_OF_APP });
    const before = kind === "delivery_endpoints" ? 1 : 0;
    const free = 5;
    await fill(attacker, kind, counts[kind] - before - free);
    const calls = Array.from({ length: 3 * free }, (_, n) => {
      const at = attacker.at(nodes[n % 2 === 0 ? 0 : 1].base);
      return making(at, endpoint.id)[kind].make(n);
    });
    const victims = making(victim, own.id)[kind];
    const [answers, theirs] = await Promise.all([Promise.all(calls), victims.make(0)]);
    assert.is(theirs.status, 201);
    const made = answers.filter(({ status }) => status === 201);
    assert.is(made.length, free);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      assert.equal([status, body.code, body.limit, body.max], [403, "limit-reached", kind, counts[kind]]);
      assert.match(body.detail, kind);
    }
    const { remove, make } = making(attacker, endpoint.id)[kind];
    if (remove === undefined) return;
    const index = answers.findIndex(({ status }) => status === 201);
    const first = answers[index];
    if (first === undefined) throw new Error("none was made");
    assert.is((await remove(index, first)).status, 204);
    assert.is((await make(100)).status, 201, "one that is deleted makes room");
    assert.is((await make(101)).status, 403);
  });
}

test("existing things are changed, published and defined again at the limit, and a deleted action comes back under its name", async () => {
  const client = await signUp(nodes[0].base);
  const endpoint = await client.make("/v1/endpoints", { name: "app", url: URL_OF_APP });
  const policy = await client.make("/v1/policies", { name: "p" });
  const actions = making(client, endpoint.id).actions;
  const first = await actions.make(1);
  await fill(client, "policies", counts.policies - 1);
  await fill(client, "actions", counts.actions - 1);
  assert.is((await client.call("PUT", `/v1/policies/${policy.id}`, { name: "p", rate_per_minute: 5 })).status, 200);
  const irreversible = { endpoint_id: endpoint.id, reversibility: "irreversible" };
  assert.is((await client.call("PUT", "/v1/actions/refund.a1", irreversible)).status, 200);
  assert.is((await actions.make(2)).status, 403);
  for (let times = 0; times < 3; times += 1) {
    assert.is((await actions.remove?.(1, first))?.status, 204);
    assert.is((await actions.make(1)).status, 201);
    assert.is((await actions.make(2)).status, 403);
  }
});

const logInAt = (base: string, email: string): Promise<string> =>
  enter(base, "/v1/auth/login", { email, password: PASSWORD });
const holds = async (cookie: string, base = nodes[0].base): Promise<boolean> =>
  (await fetch(`${base}/v1/auth/me`, { headers: { cookie } })).status === 200;

test("a session above the limit ends the oldest of the member with the most, never another member's", async () => {
  const owner = await signUp(nodes[0].base);
  const { body: me } = await owner.session("GET", "/v1/auth/me");
  const email = `viewer-${owner.account}@example.com`;
  const { cookie: joined } = await addMember(owner, email);
  await fill(owner, "sessions", counts.sessions - 4);
  // Two slots are free. The viewer takes them, and goes on.
  const cookies = [joined];
  for (let n = 0; n < 5; n += 1) cookies.push(await logInAt(nodes[n % 2 === 0 ? 0 : 1].base, email));
  // What one node has ended another one may take for open a moment longer.
  await until("the oldest of them have ended", async () => {
    const are = await Promise.all(cookies.map((cookie) => holds(cookie)));
    return String(are) === String([false, false, false, true, true, true]);
  });
  assert.ok(await holds(owner.cookie), "the owner's only session holds");
  const { body: listed } = await clientAt(nodes[0].base, { ...owner, cookie: cookies[5] ?? "" }).session(
    "GET",
    "/v1/auth/sessions",
  );
  assert.ok(listed.data.length <= 4);
  const again = await logInAt(nodes[1].base, me.member.email);
  await until("the oldest one has ended", async () => !(await holds(cookies[3] ?? "")));
  assert.equal(await Promise.all([holds(again), holds(owner.cookie)]), [true, true]);
});

test("a session that was closed, or ended by a new password, makes room before any other ends", async () => {
  const owner = await signUp(nodes[0].base);
  const { body: me } = await owner.session("GET", "/v1/auth/me");
  await fill(owner, "sessions", counts.sessions - 3);
  const second = await logInAt(nodes[0].base, me.member.email);
  const third = await logInAt(nodes[0].base, me.member.email);
  const headers = { cookie: second, "sec-fetch-site": "same-origin" };
  await fetch(`${nodes[0].base}/v1/auth/logout`, { method: "POST", headers });
  const fourth = await logInAt(nodes[0].base, me.member.email);
  const open = [owner.cookie, second, third, fourth];
  assert.equal(await Promise.all(open.map((cookie) => holds(cookie))), [true, false, true, true]);
  await owner.session("DELETE", "/v1/auth/sessions");
  const fifth = await logInAt(nodes[1].base, me.member.email);
  const left = [owner.cookie, third, fourth, fifth];
  assert.equal(await Promise.all(left.map((cookie) => holds(cookie))), [true, false, false, true]);
});

test("as many requests are held as the plan includes, on two nodes, and one that is decided makes room", async () => {
  const client = await signUp(nodes[0].base);
  const victim = await signUp(nodes[0].base);
  const asking = async (owner: Client) => {
    const endpoint = await owner.make("/v1/endpoints", { name: "app", url: URL_OF_APP });
    await defineAction(owner, "refund.create", endpoint.id);
    const policy = await owner.make("/v1/policies", { name: "held", approval: { expires_after_s: 3_600 } });
    return registerAgent(nodes[0].base, owner, { policy_id: policy.id });
  };
  const agent = await asking(client);
  const other = await asking(victim);
  await fill(client, "held_approvals", counts.held_approvals - 3);
  const ask = (who: typeof agent, n: number) =>
    who.at(nodes[n % 2 === 0 ? 0 : 1].base).execute(`${n}`, { action: "refund.create", payload: { n }, wait_ms: 0 });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(agent, n)));
  const held = answers.filter(({ body }) => body.status === "held");
  assert.is(held.length, 3);
  for (const { status, body } of answers.filter((answer) => !held.includes(answer))) {
    assert.equal([status, body.code, body.limit], [403, "limit-reached", "held_approvals"]);
  }
  assert.is((await ask(other, 1)).body.status, "held");
  const bundled = await agent.bundle("bundle", [{ action: "refund.create", payload: {} }]);
  assert.equal([bundled.status, bundled.body.code], [403, "limit-reached"]);
  // A request that is held and comes again is the same one.
  const key = held[0] === undefined ? -1 : answers.indexOf(held[0]);
  assert.is((await ask(agent, key)).body.status, "held");

  const { approval_id: id } = held[0]?.body ?? {};
  const after = held[0]?.headers.get("countersign-position");
  const { body: approval } = await client.session("GET", `/v1/approvals/${id}?after=${after}`);
  const decision = { digest: approval.digest, comment: "no" };
  assert.is((await client.session("POST", `/v1/approvals/${id}/reject`, decision)).status, 200);
  // The reactor gives the place back.
  let n = 100;
  await until("a place is free", async () => {
    n += 1;
    return (await ask(agent, n)).body.status === "held";
  });
  assert.is((await ask(agent, n + 1)).status, 403);
});

test("the capabilities name every limit", async () => {
  const client = await signUp(nodes[0].base);
  const { body } = await client.call("GET", "/v1/capabilities");
  const { limits } = body;
  for (const [name, limit] of Object.entries(counts)) assert.is(limits[name], limit, name);
  const { storedBytesDay, refusedBytesDay, refusedRecordsDay } = PLANS.free;
  assert.equal([limits.stored_bytes_day, limits.refused_bytes_day], [storedBytesDay, refusedBytesDay]);
  assert.is(limits.refused_records_day, refusedRecordsDay);
});

test("agents that loop do not lock out the people who approve, nor another account", async () => {
  const now = Date.now();
  // The clock stands still, so that all requests are within one minute on any machine.
  const { base, stop } = await serviceInProcess({}, { clock: { now: () => now } });
  const client = await signUp(base);
  const victim = await signUp(base);
  const agents = await Promise.all([1, 2, 3, 4].map(() => registerAgent(base, client)));
  const { apiRatePerMinute, apiRatePerMinuteAccount } = PLANS.free;
  const statuses = new Map<number, number>();
  for (const agent of agents) {
    const ask = async () => (await agent.execution("evt_none")).status;
    for (let n = 0; n < apiRatePerMinute; n += 50) {
      for (const status of await Promise.all(Array.from({ length: 50 }, ask))) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
  }
  assert.is(statuses.get(404), apiRatePerMinuteAccount);
  assert.is(statuses.get(429), 4 * apiRatePerMinute - apiRatePerMinuteAccount);
  const refused = await agents[3]?.execution("evt_none");
  assert.equal([refused?.status, refused?.body.code], [429, "rate-limited"]);
  assert.match(refused?.body.detail, "The agents of this account together may make 1800 requests a minute");
  assert.is((await client.session("GET", "/v1/approvals")).status, 200);
  assert.is((await client.call("GET", "/v1/approvals")).status, 200);
  assert.is((await victim.call("GET", "/v1/approvals")).status, 200);
  await stop();
});

test("members and open invitations are as many as the plan includes", async () => {
  const client = await signUp(nodes[0].base);
  const invitations = "/v1/members/invitations";
  const invite = (n: number) =>
    client.session("POST", invitations, { email: `person-${n}-${client.account}@example.com`, role: "viewer" });
  const answers: Reply[] = [];
  for (let n = 1; n < counts.members; n += 1) answers.push(await invite(n));
  assert.ok(answers.every(({ status }) => status === 201));
  const { status, body } = await invite(counts.members);
  assert.equal([status, body.code, body.limit], [403, "limit-reached", "members"]);
});

test.run();
