import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Counts, PLANS } from "../../../domain/account/plans.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { ledgers } from "../../../src/admission/ledgers.ts";
import { NO_TRACE } from "../../../src/envelope.ts";
import { registerAgent } from "../../support/agent.ts";
import { type Client, type Reply, signUp } from "../../support/client.ts";
import { insideService } from "../../support/inside-service.ts";

const test = suite("what an account may have");

const log = memoryEventLog();
const nodes = [await insideService({}, { log }), await insideService({}, { log })] as const;
test.after(async () => {
  for (const node of nodes) await node.stop();
});

const { counts } = PLANS.free;
const URL_OF_APP = "http://127.0.0.1:9/";

/** As if the account had so many already. */
const fill = async ({ account }: Client, kind: keyof Counts, places: number): Promise<void> => {
  const onError = (error: unknown): never => {
    throw error;
  };
  const filled = ledgers({ log, clock: systemClock, randomness, orphanAgeMs: 0, fate: async () => "spent", onError });
  const stream = `ledger-${account}-${kind}`;
  await filled.reserve(stream, account, "filled", { count: Number.MAX_SAFE_INTEGER }, NO_TRACE, places);
  await filled.settleNow(stream, account, "filled", 0, NO_TRACE);
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

test("what is there is changed, published and defined again at the limit, and a deleted action comes back under its name", async () => {
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

test("the capabilities name every limit", async () => {
  const client = await signUp(nodes[0].base);
  const { body } = await client.call("GET", "/v1/capabilities");
  const { limits } = body;
  for (const [name, limit] of Object.entries(counts)) assert.is(limits[name], limit, name);
  const { storedBytesDay, refusedBytesDay } = PLANS.free;
  assert.equal([limits.stored_bytes_day, limits.refused_bytes_day], [storedBytesDay, refusedBytesDay]);
});

test("agents that loop do not lock out the people who approve, nor another account", async () => {
  const now = Date.now();
  // The clock stands still, so that all requests are within one minute on any machine.
  const { base, stop } = await insideService({}, { clock: { now: () => now } });
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
