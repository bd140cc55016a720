import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import {
  ACCOUNT,
  AGENT_ID,
  type AgentsWorld,
  agentsWorld,
  answered,
  LEDGER,
  startNode,
} from "../../support/execute-world.ts";
import { words } from "../../support/personal-words.ts";
import { until } from "../../support/until.ts";

const test = suite("executing");

/** Of a body: its verdict's gates. */
const gatesOf = ({ verdict }: JsonObject): string[] =>
  // A verdict, as the answer has it.
  (verdict as unknown as { gates: { gate: string; code: string }[] }).gates.map(({ gate, code }) => `${gate} ${code}`);
const admittedCost = async (world: AgentsWorld): Promise<unknown> =>
  (await world.ofType("EventAdmitted")).at(-1)?.data.cost;

test("one key at two nodes at once is one event, with one answer and one place under each limit", async () => {
  const world = await agentsWorld({ budget_eur_day: 2, rate_per_minute: 1, loop: { max_identical: 1, window_s: 60 } });
  const nodes = [await startNode(world), await startNode(world)];
  const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => nodes[n % 2]?.execute("same")));
  for (const reply of replies) assert.equal([reply?.status, reply?.body], [200, replies[0]?.body]);
  assert.is(replies.filter((reply) => reply?.replayed === false).length, 1);
  assert.is(world.target.arrivals.length, 1);
  for (const node of nodes) await node.stop();
});

test("of 64 identical requests at two nodes a limit of 3 grants exactly 3, and a later window counts anew", async () => {
  const world = await agentsWorld({ loop: { max_identical: 3, window_s: 60 } });
  const nodes = [await startNode(world), await startNode(world)];
  const ask = async (from: number) => {
    const keys = Array.from({ length: 32 }, (_, n) => `key-${from + n}`);
    const replies = await Promise.all(keys.map((key, n) => nodes[n % 2]?.execute(key)));
    return replies.map((reply) => reply?.status).filter((status) => status === 200).length;
  };
  assert.is(await ask(0), 3);
  world.clock.advance(60_000);
  assert.is(await ask(100), 3);
  for (const node of nodes) await node.stop();
});

test("of 20 requests of one run at two nodes a limit of 5 grants exactly 5, for all its agents together", async () => {
  const world = await agentsWorld({ loop: { max_per_run: 5 } });
  const nodes = [await startNode(world), await startNode(world)];
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) => nodes[n % 2]?.execute(`key-${n}`, { runId: "run", payload: { order: n } })),
  );
  assert.is(replies.filter((reply) => reply?.status === 200).length, 5);
  assert.is((await nodes[0]?.execute("none", { payload: { order: 99 } }))?.status, 200);
  for (const node of nodes) await node.stop();
});

test("the cost is the action's or else the policy's, the agent's estimate counts if higher, and an unknown cost is denied", async () => {
  const pointer = { pointer: "amount" };
  for (const [action, policy, own, payload, cost] of [
    [{ cost: { fixed_eur: 2 } }, { cost: { fixed_eur: 5 } }, null, {}, 2_000_000],
    [{ cost: null }, { cost: { fixed_eur: 5 } }, null, {}, 5_000_000],
    [{ cost: { fixed_eur: 2 } }, {}, 3_000_000, {}, 3_000_000],
    [{ cost: { fixed_eur: 2 } }, {}, 1_000_000, {}, 2_000_000],
    [{ cost: pointer }, { cost: { fixed_eur: 5 } }, null, { amount: 1.5 }, 1_500_000],
    [{ cost: pointer }, { cost: { fixed_eur: 5 } }, 9_000_000, {}, "cost-unknown"],
    [{ cost: null }, {}, 1, {}, "cost-unknown"],
  ] as const) {
    const definition: JsonObject = action.cost === null ? { cost: undefined as never } : action;
    const world = await agentsWorld({ budget_eur_day: 100, ...policy }, definition);
    const node = await startNode(world);
    const { status, body } = await node.execute("key", { costMicro: own, payload });
    const about = JSON.stringify([action, policy, own]);
    if (typeof cost === "number") assert.equal([status, await admittedCost(world)], [200, cost], about);
    else assert.equal([status, gatesOf(body).at(-1)], ["gate-budget", `budget ${cost}`], about);
    await node.stop();
  }
});

test("a policy's conditions see the agent, the action and the cost, and no source", async () => {
  const world = await agentsWorld({
    deny: [
      {
        name: "seen",
        when: `agent.id == "${AGENT_ID}" && agent.name == "helper" && action == "refund.create" && cost_eur == 2.0 && source.id == "" && payload.order == 7`,
      },
    ],
  });
  const node = await startNode(world);
  assert.is((await node.execute("a", { payload: { order: 7 } })).status, "gate-content");
  assert.is((await node.execute("b", { payload: { order: 8 } })).status, 200);
  await node.stop();
});

test("a request whose approval condition fails is denied for its content", async () => {
  const world = await agentsWorld({ approval: { when: "payload.amount > 100.0", expires_after_s: 60 } });
  const node = await startNode(world);
  const { status, body } = await node.execute("a", { payload: { order: 1 } });
  assert.equal([status, gatesOf(body).at(-1)], ["gate-content", "approval evaluation-error"]);
  await node.stop();
});

test("an action's schema and an agent's scope hold even if the policy only observes", async () => {
  const schema = { type: "object", required: ["order"] };
  const world = await agentsWorld(
    { block_on_violation: false, budget_eur_day: 1, loop: { max_per_run: 1 } },
    { schema },
  );
  const node = await startNode(world);
  const refused = await node.execute("a", { payload: {} });
  assert.equal([refused.status, gatesOf(refused.body)], ["gate-schema", ["scope ok", "schema schema-mismatch"]]);
  // What it would have refused is admitted, and takes no place.
  const watched = await node.execute("b", { runId: "r" });
  assert.equal(gatesOf(watched.body), ["scope ok", "schema ok", "loop ok", "budget budget-spent"]);
  const again = await node.execute("c", { runId: "r", payload: { order: 2 } });
  assert.equal([again.status, gatesOf(again.body).at(2)], [200, "loop run-used-up"]);
  assert.equal(await world.ofType("CostDetermined").then((all) => all.map(({ data }) => data.ledgers)), [[], []]);
  await world.tell({
    type: "AgentChanged",
    data: { agent_id: AGENT_ID, changes: { scope: { actions: ["refund.list"] } }, at: world.now() },
  });
  let asked = 2;
  await until("the node has heard of it", async () => {
    asked += 1;
    return (await node.execute(`key-${asked}`, { payload: { order: asked } })).status === "out-of-scope";
  });
  await node.stop();
});

test("a request outside of the scope is refused alike, whether or not there is such an action", async () => {
  const world = await agentsWorld();
  await world.tell({
    type: "AgentChanged",
    data: { agent_id: AGENT_ID, changes: { scope: { actions: ["mail.*"] } }, at: world.now() },
  });
  const node = await startNode(world);
  const refused = async (key: string, action: string) => {
    const { status, body } = await node.execute(key, { action, payload: { order: 1 } });
    return [status, gatesOf(body)];
  };
  assert.equal(await refused("a", "refund.create"), ["out-of-scope", ["scope out-of-scope"]]);
  assert.equal(await refused("b", "payout.none"), ["out-of-scope", ["scope out-of-scope"]]);
  assert.equal(await refused("b", "payout.none"), ["out-of-scope", ["scope out-of-scope"]]);
  assert.is((await node.execute("c", { action: "mail.none" })).status, "unknown-action");
  const blocked = await world.ofType("EventBlocked");
  assert.equal(
    blocked.map(({ data }) => [data.type, data.endpoint_id === null]),
    [
      ["refund.create", false],
      // A refused request may be repeated, and is decided again.
      ["payout.none", true],
      ["payout.none", true],
    ],
  );
  await node.stop();
});

test("a request denied by the loop gate leaves budget and rate unchanged", async () => {
  const world = await agentsWorld({
    budget_eur_day: 100,
    rate_per_minute: 3,
    loop: { max_identical: 1, window_s: 60 },
  });
  const node = await startNode(world);
  assert.is((await node.execute("a")).status, 200);
  for (const key of ["b", "c", "d"]) {
    const { status, body } = await node.execute(key);
    assert.equal(
      [status, gatesOf(body)],
      ["gate-loop", ["scope ok", "rate ok", "loop identical-reached", "budget ok"]],
    );
  }
  assert.is((await node.execute("e", { payload: { order: 2 } })).status, 200);
  await until("both are settled", async () => (await node.ledgers.figures(LEDGER, ACCOUNT)).settled === 4_000_000);
  assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).open, 0);
  await node.stop();
});

test("a blocked request may be repeated with its key and the same payload only", async () => {
  const world = await agentsWorld({ rate_per_minute: 1 });
  const node = await startNode(world);
  await node.execute("first");
  assert.is((await node.execute("second", { payload: { order: 2 } })).status, "gate-rate");
  assert.is((await node.execute("second", { payload: { order: 2 } })).status, "gate-rate");
  assert.is((await node.execute("second", { payload: { order: 3 } })).status, "idempotency-key-reused");
  assert.is((await world.ofType("EventBlocked")).length, 2);
  await node.stop();
});

test("a second request with a key is refused only if the first one has used the key", async () => {
  const world = await agentsWorld();
  const node = await startNode(world);
  const pair = async (key: string, action: string) =>
    (
      await Promise.all([
        node.execute(key, { action, payload: { order: 1 } }, 0),
        node.execute(key, { payload: { order: 2 } }, 0),
      ])
    ).map(({ status }) => status);
  // Either of the two may be decided first.
  const [unknown, known] = await pair("a", "no.such.action");
  assert.ok(unknown === "unknown-action" || unknown === "idempotency-key-reused", String(unknown));
  assert.is(known, 202);
  assert.equal((await pair("b", "refund.create")).sort(), [202, "idempotency-key-reused"]);
  await node.stop();
});

test("a request from before a suspension is never executed, and a later one of the resumed agent is", async () => {
  const world = await agentsWorld({ budget_eur_day: 100 });
  // Admitted, and nobody delivers it yet.
  const first = await startNode(world);
  world.target.answer = async () => answered(500);
  const before = await first.execute("before", {}, 0);
  assert.is(before.body.status, "queued");
  await until("it has failed once", async () => (await world.ofType("AttemptFailed")).length === 1);
  await first.stop();
  await world.tell({ type: "AgentSuspended", data: { agent_id: AGENT_ID, reason: words("r"), at: world.now() } });
  await world.tell({ type: "AgentResumed", data: { agent_id: AGENT_ID, at: world.now() } });
  // Of one millisecond it counts as asked for before.
  world.clock.advance(1);
  world.target.answer = () => answered(200);
  const second = await startNode(world, { isAlone: true });
  assert.equal((await second.execute("before")).body.status, "cancelled");
  assert.is((await second.execute("after", { payload: { order: 2 } })).status, 200);
  assert.is(world.target.arrivals.length, 2);
  // Tried once and answered: the estimate is spent.
  await until("both are settled", async () => (await second.ledgers.figures(LEDGER, ACCOUNT)).settled === 4_000_000);
  await second.stop();
});

test("a slow request whose place was given back does not give back the place of the next one with its key", async () => {
  const world = await agentsWorld({ budget_eur_day: 3 });
  let answer = (): void => undefined;
  world.target.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve(answered(200));
    });
  const quick = await startNode(world);
  let isOvertaken = false;
  const slow = await startNode(world, {
    log: {
      ...world.log,
      async append(stream, expected, events) {
        if (stream.startsWith("delivery-") && !isOvertaken) {
          isOvertaken = true;
          await quick.ledgers.resolve(LEDGER, ACCOUNT, stream.slice("delivery-".length));
          assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).open, 0);
          assert.is((await quick.execute("key", {}, 0)).body.status, "queued");
        }
        return world.log.append(stream, expected, events);
      },
    },
  });
  const { status, replayed } = await slow.execute("key", {}, 0);
  assert.equal([status, replayed], [202, true]);
  const { reserved, open } = await quick.ledgers.figures(LEDGER, ACCOUNT);
  assert.equal([reserved, open], [2_000_000, 1]);
  await until("its target is asked", () => world.target.arrivals.length === 1);
  answer();
  await until("it is settled", async () => (await quick.ledgers.figures(LEDGER, ACCOUNT)).settled === 2_000_000);
  for (const node of [quick, slow]) await node.stop();
});

test("an agent that is suspended on one node is soon refused by every node", async () => {
  const world = await agentsWorld();
  const [a, b] = [await startNode(world), await startNode(world)];
  await Promise.all([a, b].map((node, n) => node.execute(`warm-${n}`, { payload: { n } })));
  await world.tell({ type: "AgentSuspended", data: { agent_id: AGENT_ID, reason: words("r"), at: world.now() } });
  for (const node of [a, b]) {
    const refused = async () => (await node.execute("x", { payload: { x: 1 } }, 0)).status === "agent-suspended";
    await until("it is refused", refused);
  }
  for (const node of [a, b]) await node.stop();
});

test("the result is the target's answer as JSON or text, or only its status if that was erased", async () => {
  const world = await agentsWorld();
  const node = await startNode(world);
  const said = async (key: string, body: string, type: string) => {
    world.target.answer = () => answered(201, body, { "content-type": type });
    return (await node.execute(key, { payload: { key } })).body.result;
  };
  assert.equal(await said("a", '{"a":[1]}', "application/json; charset=utf-8"), { status_code: 201, body: { a: [1] } });
  assert.equal(await said("b", '"text"', "application/problem+json"), { status_code: 201, body: "text" });
  assert.equal(await said("c", "{", "application/json"), { status_code: 201, body: "{" });
  assert.equal(await said("d", '{"a":1}', "text/plain"), { status_code: 201, body: '{"a":1}' });
  const json = "application/json";
  const levels = (count: number) => "[".repeat(count) + "]".repeat(count);
  assert.equal(await said("64", levels(64), json), { status_code: 201, body: JSON.parse(levels(64)) });
  // What another would be once parsed, and what could not be written again, stays what the target said.
  for (const text of [
    levels(65),
    levels(100_000),
    `{"a":1,"a":${levels(100_000)}}`,
    '{"id":12345678901234567890}',
    "1e999",
  ])
    assert.equal(await said(text.slice(0, 40) + text.length, text, json), { status_code: 201, body: text });
  assert.equal(await said("e", "", "application/json"), { status_code: 201, body: "" });
  const [admitted] = (await world.ofType("EventAdmitted")).slice(-1);
  await world.log.erase(`payload-${String(admitted?.data.event_id)}`);
  const { status, body } = await node.execute("e", { payload: { key: "e" } });
  assert.equal([status, body.result], [200, { status_code: 201, body: null }]);
  await node.stop();
});

test.run();
