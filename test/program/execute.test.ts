import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { awayFromMidnight } from "../support/calendar-room.ts";
import { type Client, type Reply, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const REFUND = { action: "refund.create", payload: { order: "o-1", amount: 12.5 } };

/**
 * The longest that an endpoint may have. Some tests keep an attempt open while hundreds of requests are made and cancelled,
 * which on a busy machine takes longer than the default; an attempt that ended by itself would change what they count.
 */
const TIMEOUT_MS = 60_000;

/** An account with an endpoint at the target, and the action `refund.create`. */
type World = { readonly client: Client; readonly endpointId: string; readonly signingSecret: string };

const executes = ({ name, open }: EngineSet): void => {
  const test = suite(`agents act: ${name}`);
  let engines: Engines;
  let program: Program;
  let target: Receiver;

  test.before(async () => {
    engines = await open();
    [program, target] = await Promise.all([startProgram(engines.env), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    killPrograms();
    await target.close();
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(async () => {
    await awayFromMidnight();
    target.arrivals.length = 0;
    target.answer((_arrival, response) =>
      response.setHeader("content-type", "application/json").end('{"refund":"r-1"}'),
    );
  });

  const world = async (action: Record<string, unknown> = {}, app: Record<string, unknown> = {}): Promise<World> => {
    const client = await signUp(program.url);
    const settings = { name: "app", url: target.url, retry_schedule_s: [1, 1], timeout_ms: TIMEOUT_MS, ...app };
    const { id: endpointId, signing_secret: signingSecret } = await client.make("/v1/endpoints", settings);
    await defineAction(client, REFUND.action, endpointId, action);
    return { client, endpointId, signingSecret };
  };

  const agentUnder = async (client: Client, policy: Record<string, unknown>): Promise<[Agent, string]> => {
    const { id } = await client.make("/v1/policies", { name: "p", ...policy });
    return [await registerAgent(program.url, client, { policy_id: id }), id];
  };

  const ledgerIs = (client: Client, policyId: string, reserved: number, settled: number): Promise<Reply> =>
    until(`${reserved} is reserved and ${settled} settled`, async () => {
      const shown = await client.call("GET", `/v1/policies/${policyId}/ledger`);
      return shown.body.reserved_eur === reserved && shown.body.settled_eur === settled ? shown : null;
    });

  const refusals = (replies: readonly Reply[]): string[] =>
    replies.map(({ status, body }) => `${status} ${body.code ?? body.status}`);

  test("an agent gets its target's answer, and the target who asks for what, signed", async () => {
    const { client, signingSecret } = await world();
    const agent = await registerAgent(program.url, client);
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const about = { run_id: "run-7", ...REFUND };
    const done = await agent.execute("one", about, { "countersign-depth": "2", traceparent });
    assert.is(done.status, 200, JSON.stringify(done.body));
    assert.equal(done.body.result, { status_code: 200, body: { refund: "r-1" } });
    assert.equal([done.body.status, done.body.verdict.decision], ["delivered", "allow"]);
    assert.equal(
      done.body.verdict.gates.map((it: { gate: string }) => it.gate),
      ["scope"],
    );
    const [arrival] = target.arrivals;
    const { headers = {}, body = "" } = arrival ?? {};
    assert.is(body, JSON.stringify(REFUND.payload));
    assert.equal(
      ["webhook-id", "action", "agent", "run", "depth"].map((it) => headers[it] ?? headers[`countersign-${it}`]),
      [done.body.event_id, REFUND.action, agent.id, "run-7", "3"],
    );
    assert.match(String(headers.traceparent), new RegExp(`^00-${"a".repeat(32)}-`));
    assert.is(headers["content-type"], "application/json");
    new Webhook(signingSecret).verify(body, headers as Record<string, string>);
    const shown = await agent.execution(done.body.event_id);
    assert.equal([shown.status, shown.body], [200, done.body]);
    const listed = await until("the console lists it", async () => {
      const { body } = await client.call("GET", `/v1/events?agent_id=${agent.id}&action=${REFUND.action}`);
      return body.data.length === 1 && body.data[0].status === "delivered" ? body.data : null;
    });
    assert.equal(listed[0].origin, { kind: "agent", id: agent.id, name: "helper", type: "agent" });
    const { body: none } = await client.call("GET", `/v1/events?agent_id=${agent.id}&action=refund.other`);
    assert.equal(none.data, []);
  });

  test("20 calls with one key at once: the target is called once, all get its answer, 19 are told that it is a repeat", async () => {
    const { client } = await world();
    const agent = await registerAgent(program.url, client);
    const replies = await Promise.all(Array.from({ length: 20 }, () => agent.execute("same", REFUND)));
    const [first] = replies;
    for (const { status, body } of replies) assert.equal([status, body], [200, first?.body]);
    assert.is(replies.filter(({ headers }) => headers.get("idempotent-replayed") === "true").length, 19);
    assert.is(target.arrivals.length, 1);
    const later = await agent.execute("same", REFUND);
    assert.equal([later.status, later.body, later.headers.get("idempotent-replayed")], [200, first?.body, "true"]);
    const other = await agent.execute("same", { ...REFUND, payload: { order: "o-2" } });
    assert.equal(refusals([other]), ["422 idempotency-key-reused"]);
  });

  test("a repeat gets the first answer though the action has changed since, and though there is none any more", async () => {
    const { client, endpointId } = await world();
    const agent = await registerAgent(program.url, client);
    const first = await agent.execute("kept", REFUND);
    await defineAction(client, REFUND.action, endpointId, { schema: { type: "object", required: ["reason"] } });
    assert.equal((await agent.execute("kept", REFUND)).body, first.body);
    assert.equal(refusals([await agent.execute("fresh", REFUND)]), ["422 gate-schema"]);
    await client.session("DELETE", `/v1/actions/${REFUND.action}`);
    assert.equal((await agent.execute("kept", REFUND)).body, first.body);
  });

  test("a request outside the agent's scope is refused with the reason before anything is counted or sent", async () => {
    const { client, endpointId } = await world({ schema: { type: "object", required: ["order"] } });
    await defineAction(client, "payout.create", endpointId);
    const { id } = await client.make("/v1/policies", { name: "p", rate_per_minute: 1 });
    const agent = await registerAgent(program.url, client, { policy_id: id, scope: { actions: ["refund.*"] } });
    const replies = [
      await agent.execute("a", { ...REFUND, action: "refund.unknown" }),
      await agent.execute("b", { ...REFUND, action: "payout.create" }),
      await agent.execute("c", { ...REFUND, payload: {} }),
      await agent.execute("d", REFUND, { "countersign-depth": "x" }),
      await agent.execute("e", { ...REFUND, cost_eur: 0.0000001 }),
      await agent.execute("f", { ...REFUND, wait_ms: 30_001 }),
      await agent.execute("", REFUND),
      await agent.execute("g", REFUND),
      await agent.execute("h", REFUND),
    ];
    assert.equal(refusals(replies), [
      "404 unknown-action",
      "403 out-of-scope",
      "422 gate-schema",
      "400 invalid-request",
      "400 invalid-request",
      "400 invalid-request",
      "400 invalid-request",
      "200 delivered",
      "429 gate-rate",
    ]);
    assert.is(replies[1]?.body.verdict.gates[0].code, "out-of-scope");
    assert.ok(Number(replies[8]?.headers.get("retry-after")) > 0);
    assert.is(target.arrivals.length, 1);
    const blocked = await agent.execution(replies[2]?.body.event_id);
    assert.equal([blocked.status, blocked.body.status], [409, "blocked"]);
  });

  test("numbers reach the target as they were said, or nothing does; what the target says is never too deep to be answered", async () => {
    const { client } = await world();
    const agent = await registerAgent(program.url, client);
    const raw = async (key: string, payload: string): Promise<Response> =>
      fetch(`${program.url}/v1/execute`, {
        method: "POST",
        headers: { authorization: `Bearer ${agent.key}`, "content-type": "application/json", "idempotency-key": key },
        body: `{"action":"${REFUND.action}","payload":${payload}}`,
      });
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    target.answer((_arrival, response) => response.setHeader("content-type", "application/json").end(deep));
    for (const number of ["12345678901234567890", "1e999"]) {
      const refused = await raw("large", `{"acct":${number}}`);
      // A problem.
      const { code, errors } = (await refused.json()) as { code: string; errors: { path: string }[] };
      assert.equal([refused.status, code, errors[0]?.path], [400, "invalid-request", "/payload/acct"]);
    }
    assert.is(target.arrivals.length, 0);
    for (const _ of ["first", "again"]) {
      const done = await raw("large", '{"acct":"12345678901234567890","n":9007199254740991}');
      // An execution.
      const { status, result } = (await done.json()) as { status: string; result: { body: unknown } };
      assert.equal([done.status, status, result.body === deep], [200, "delivered", true]);
    }
    assert.is(target.arrivals.length, 1);
  });

  test("only agents execute, each sees its own, and an account's key is not an agent's", async () => {
    const { client } = await world();
    const [mine, other] = [await registerAgent(program.url, client), await registerAgent(program.url, client)];
    const done = await mine.execute("mine", REFUND);
    assert.is((await other.execution(done.body.event_id)).status, 404);
    assert.is((await mine.execution(`evt_${"a".repeat(32)}`)).status, 404);
    const asKey = await client.call("POST", "/v1/execute", REFUND, { "idempotency-key": "k" });
    assert.equal(refusals([asKey]), ["403 forbidden"]);
    // Keys of two agents are two keys.
    assert.is((await other.execute("mine", REFUND)).headers.get("idempotent-replayed"), null);
    assert.is(target.arrivals.length, 2);
  });

  test("what takes longer than the agent waits is 202 with its place, and is waited for there", async () => {
    const { client } = await world();
    const agent = await registerAgent(program.url, client);
    let finish = (): void => undefined;
    target.answer((_arrival, response) => {
      finish = () => response.end("done");
    });
    const slow = await agent.execute("slow", { ...REFUND, wait_ms: 100 });
    assert.equal([slow.status, slow.body.status], [202, "queued"]);
    assert.is(slow.headers.get("location"), `/v1/executions/${slow.body.event_id}`);
    const waiting = agent.execution(slow.body.event_id, 10_000);
    const repeated = agent.execute("slow", REFUND);
    await until("it has arrived", () => target.arrivals.length === 1);
    finish();
    assert.equal((await waiting).body.result, { status_code: 200, body: "done" });
    assert.equal((await repeated).body.result, { status_code: 200, body: "done" });
    assert.is(target.arrivals.length, 1);
  });

  test("a target that fails is tried again under one webhook-id; when that is over the answer is 502 with what it said", async () => {
    const { client } = await world({}, { retry_schedule_s: [1] });
    const agent = await registerAgent(program.url, client);
    target.answer((_arrival, response) => response.writeHead(503, { "content-type": "text/plain" }).end("closed"));
    const failed = await agent.execute("failing", REFUND);
    assert.equal([failed.status, failed.body.status], [502, "failed"]);
    assert.equal(failed.body.result, { status_code: 503, body: "closed" });
    assert.is(failed.body.failure.kind, "http-5xx");
    assert.equal([...target.counts()], [[failed.body.event_id, 2]]);
    assert.equal((await agent.execute("failing", REFUND)).body, failed.body);
  });

  test("money: reserved before, settled to what the target says, to the estimate where it says nothing that is an amount", async () => {
    const { client } = await world({ cost: { pointer: "amount" } });
    const [agent, policyId] = await agentUnder(client, { budget_eur_day: 100 });
    const says = (cost: string | null) =>
      target.answer((_arrival, response) => {
        if (cost !== null) response.setHeader("countersign-cost-eur", cost);
        response.end();
      });
    const costs: number[] = [];
    const spend = async (key: string, said: string | null, amount: number, more: Record<string, unknown> = {}) => {
      says(said);
      const done = await agent.execute(key, { ...REFUND, ...more, payload: { amount } });
      assert.is(done.status, 200, JSON.stringify(done.body));
      costs.push(done.body.cost_eur);
    };
    await spend("a", "3.5", 10);
    await spend("b", null, 10);
    await spend("c", "about four", 10);
    await spend("d", "0", 10);
    await spend("e", null, 10, { cost_eur: 12 });
    await spend("f", null, 10, { cost_eur: 1 });
    assert.equal(costs, [3.5, 10, 10, 0, 12, 10]);
    const { body } = await ledgerIs(client, policyId, 0, 45.5);
    assert.equal([body.overrun_eur, body.available_eur, body.requests], [0, 54.5, { reserved: 0, settled: 6 }]);
    // More than was reserved counts at once, and is shown.
    await spend("g", "60", 50);
    const over = await ledgerIs(client, policyId, 0, 105.5);
    assert.equal([over.body.overrun_eur, over.body.available_eur], [10, -5.5]);
    assert.equal(refusals([await agent.execute("h", { ...REFUND, payload: { amount: 0.01 } })]), ["429 gate-budget"]);
    const unknown = await agent.execute("i", { ...REFUND, payload: { none: 1 }, cost_eur: 5 });
    assert.equal([...refusals([unknown]), unknown.body.retryable], ["429 gate-budget", false]);
  });

  test("money of a failed request: given back when nothing can have reached the target, else the estimate is spent", async () => {
    const { client } = await world({ cost: { fixed_eur: 4 } }, { retry_schedule_s: [] });
    const [agent, policyId] = await agentUnder(client, { budget_eur_day: 10 });
    target.answer((_arrival, response) => response.writeHead(500).end());
    assert.is((await agent.execute("answered", REFUND)).status, 502);
    await ledgerIs(client, policyId, 0, 4);
    target.answer((_arrival, response) => response.destroy());
    assert.is((await agent.execute("reset", REFUND)).status, 502);
    await ledgerIs(client, policyId, 0, 8);
    // Nobody listens on port 1.
    const dead = await client.make("/v1/endpoints", { name: "dead", url: "http://127.0.0.1:1/", retry_schedule_s: [] });
    await defineAction(client, "refund.dead", dead.id, { cost: { fixed_eur: 2 } });
    const refused = await agent.execute("refused", { ...REFUND, action: "refund.dead" });
    assert.equal([refused.status, refused.body.result, refused.body.failure.kind], [502, null, "connect"]);
    const { body } = await ledgerIs(client, policyId, 0, 8);
    assert.equal(body.requests, { reserved: 0, settled: 2 });
  });

  test("loops: identical requests in a window, requests of a run and depth are stopped, and what passes is not counted twice", async () => {
    const { client } = await world();
    const loop = { max_identical: 2, window_s: 3_600, max_per_run: 3, max_depth: 2 };
    const [agent] = await agentUnder(client, { loop });
    const ask = (key: string, order: string, more: Record<string, unknown> = {}, depth = "0") =>
      agent.execute(key, { ...REFUND, payload: { order }, ...more }, { "countersign-depth": depth });
    const identical = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(`same-${n}`, "same")));
    assert.is(identical.filter(({ status }) => status === 200).length, 2);
    const stopped = identical.find(({ status }) => status === 429);
    assert.is(stopped?.body.code, "gate-loop");
    assert.ok(Number(stopped?.headers.get("retry-after")) > 3_000);
    const run = { run_id: "r" };
    const ofRun = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(`run-${n}`, `run ${n}`, run)));
    assert.is(ofRun.filter(({ status }) => status === 200).length, 3);
    const last = await ask("run-last", "last", run);
    assert.equal([...refusals([last]), last.body.retryable], ["429 gate-loop", false]);
    // What the run refused took no place among the identical ones.
    assert.equal(refusals([await ask("a", "last"), await ask("b", "last"), await ask("c", "last")]), [
      "200 delivered",
      "200 delivered",
      "429 gate-loop",
    ]);
    assert.equal(refusals([await ask("d", "deep", {}, "1"), await ask("e", "deeper", {}, "2")]), [
      "200 delivered",
      "429 gate-loop",
    ]);
  });

  test("suspended: refused at once, what waits is cancelled and its money given back, what ran already is said", async () => {
    const { client } = await world({ cost: { fixed_eur: 2 } }, { retry_schedule_s: [3_600], concurrency: 1 });
    const [agent, policyId] = await agentUnder(client, { budget_eur_day: 100 });
    let answers = 0;
    let finish = (): void => undefined;
    target.answer((_arrival, response) => {
      answers += 1;
      if (answers === 1) response.writeHead(500).end();
      else finish = () => response.writeHead(500).end();
    });
    const [retried, running, queued] = await Promise.all(
      ["retried", "running", "queued"].map(async (key, n) => {
        // In this order.
        await until("the one before has arrived", () => target.arrivals.length >= Math.min(n, 2));
        return agent.execute(key, { ...REFUND, payload: { n }, wait_ms: 0 });
      }),
    );
    await until("the second is under way", () => answers === 2);
    await ledgerIs(client, policyId, 6, 0);
    assert.is(
      (await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "a person says so" })).status,
      200,
    );
    const refused = await agent.execute("more", REFUND);
    assert.equal(refusals([refused]), ["403 agent-suspended"]);
    assert.is(refused.body.reason, "a person says so");
    const statusOf = async (it: Reply | undefined) => (await agent.execution(it?.body.event_id)).body.status;
    await until("what waits is cancelled", async () => {
      const statuses = await Promise.all([retried, queued].map(statusOf));
      return statuses.every((it) => it === "cancelled");
    });
    // Tried once with an answer: its estimate is spent. Never sent: given back. Under way: not known yet.
    await ledgerIs(client, policyId, 2, 2);
    finish();
    await until("what ran is cancelled behind its failure", async () => (await statusOf(running)) === "cancelled");
    await ledgerIs(client, policyId, 0, 4);
    assert.is((await client.call("POST", `/v1/agents/${agent.id}/resume`)).status, 200);
    target.answer((_arrival, response) => response.end());
    assert.is((await agent.execute("after", { ...REFUND, payload: { n: 3 } })).status, 200);
    assert.is(target.arrivals.length, 3);
    assert.equal(await statusOf(queued), "cancelled");
  });

  test("suspended with more waiting than a page of them: all of it is cancelled, and its money is back", async () => {
    const { client } = await world({ cost: { fixed_eur: 0.01 } }, { retry_schedule_s: [3_600], concurrency: 1 });
    const [agent, policyId] = await agentUnder(client, { budget_eur_day: 100 });
    const requests = Array.from({ length: 130 }, (_, n) => n);
    let finish = (): void => undefined;
    target.answer((_arrival, response) => {
      finish = () => response.end();
    });
    for (let from = 0; from < requests.length; from += 25)
      await Promise.all(
        requests.slice(from, from + 25).map(async (n) => {
          assert.is((await agent.execute(`many-${n}`, { ...REFUND, payload: { n }, wait_ms: 0 })).status, 202);
        }),
      );
    await until("one is under way", () => target.arrivals.length === 1);
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "enough" });
    await ledgerIs(client, policyId, 0.01, 0);
    finish();
    await ledgerIs(client, policyId, 0, 0.01);
    for (const [status, most] of [
      ["delivered", 1],
      ["cancelled", 100],
      ["queued", 0],
    ] as const)
      await until(`${most} of a page are ${status}`, async () => {
        const { body } = await client.call("GET", `/v1/events?status=${status}&agent_id=${agent.id}&limit=100`);
        return body.data.length === most;
      });
    assert.is(target.arrivals.length, 1);
  });

  test("what is held for people keeps its money; suspended, it is cancelled, nobody can approve it, and the money is back", async () => {
    const { client } = await world({ cost: { fixed_eur: 3 } });
    const approval = { when: "cost_eur >= 3.0", expires_after_s: 3_600 };
    const [agent, policyId] = await agentUnder(client, { budget_eur_day: 10, approval });
    const [held, approved] = [await agent.execute("held", REFUND), await agent.execute("approved", REFUND)];
    assert.equal([held.status, held.body.status], [202, "held"]);
    assert.match(held.body.approval_id, /^apr_/);
    await ledgerIs(client, policyId, 6, 0);
    const approvalIs = (it: Reply, status: string) =>
      until(`the approval is ${status}`, async () => {
        const { body } = await client.session("GET", `/v1/approvals/${it.body.approval_id}`);
        return body.status === status ? body : null;
      });
    const { digest } = await approvalIs(approved, "pending");
    const path = `/v1/approvals/${approved.body.approval_id}/approve`;
    const waiting = agent.execution(approved.body.event_id, 10_000);
    assert.is((await client.session("POST", path, { digest })).status, 200);
    // Sent again right behind the approval, before it is carried out.
    const repeated = await agent.execute("approved", REFUND);
    assert.equal([repeated.status, repeated.body.status], [200, "delivered"]);
    const done = await waiting;
    assert.equal(
      [done.status, done.body.result.body, done.body.approval_id],
      [200, { refund: "r-1" }, approved.body.approval_id],
    );
    await ledgerIs(client, policyId, 3, 3);
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "enough" });
    await approvalIs(held, "cancelled");
    const cancelled = await agent.execution(held.body.event_id);
    assert.equal([cancelled.status, cancelled.body.status, cancelled.body.cost_eur], [409, "cancelled", 0]);
    await ledgerIs(client, policyId, 0, 3);
    const late = await client.session("POST", `/v1/approvals/${held.body.approval_id}/approve`, { digest });
    assert.is(late.status, 409);
    assert.is(target.arrivals.length, 1);
  });

  test("64 agents at once on one policy of 10 euros a day at mixed costs: never a cent more at any record of the log", async () => {
    const { client } = await world({ cost: { pointer: "amount" } }, { concurrency: 100 });
    const { id: policyId } = await client.make("/v1/policies", { name: "shared", budget_eur_day: 10 });
    const agents = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        registerAgent(program.url, client, { name: `agent ${n}`, policy_id: policyId }),
      ),
    );
    const costs = [0.07, 0.31, 0.11, 0.53, 0.02, 0.19];
    target.answer(({ body }, response) => {
      const { amount } = JSON.parse(body) as { amount: number };
      // Some cost less than was reserved.
      if (amount === 0.31) response.setHeader("countersign-cost-eur", "0.2");
      response.end();
    });
    const replies = await Promise.all(
      agents.flatMap((agent, n) =>
        [0, 1, 2].map((round) =>
          agent.execute(`r-${round}`, { ...REFUND, payload: { n, round, amount: costs[(n + round) % costs.length] } }),
        ),
      ),
    );
    assert.equal([...new Set(refusals(replies))].sort(), ["200 delivered", "429 gate-budget"]);
    const { body } = await until("all is settled", async () => {
      const shown = await client.call("GET", `/v1/policies/${policyId}/ledger`);
      return shown.body.requests.reserved === 0 ? shown : null;
    });
    // Settled for less than reserved, there may be room again: until the cheapest does not fit any more.
    let settled = body.settled_eur;
    for (let more = 0; more < 200; more += 1) {
      const cost = [...costs].sort((a, b) => b - a).find((it) => it !== 0.31 && settled + it <= 10.000001);
      if (cost === undefined) break;
      const [agent] = agents;
      const reply = await agent?.execute(`more-${more}`, { ...REFUND, payload: { more, amount: cost } });
      if (reply?.status !== 200) break;
      settled += cost;
    }
    await until("that is settled too", async () => {
      const shown = await client.call("GET", `/v1/policies/${policyId}/ledger`);
      settled = shown.body.settled_eur;
      return shown.body.requests.reserved === 0;
    });
    assert.ok(settled <= 10 && settled > 10 - 0.53, String(settled));
    await program.stop();
    const fullest = await fullestOf(policyId);
    assert.ok(fullest <= 10_000_000, `${fullest} micro-euros`);
    assert.ok(fullest > 10_000_000 - 530_000, `${fullest} micro-euros`);
    program = await startProgram(engines.env, program.dir);
  });

  /** The most that was reserved and settled together at any record, by the records' own account. */
  const fullestOf = async (policyId: string): Promise<number> => {
    const open = new Map<string, number>();
    let settled = 0;
    let fullest = 0;
    for (const event of await readLogAt(locationsIn(engines, program.dir).log)) {
      if (!event.stream.startsWith(`ledger-${policyId}-`)) continue;
      const entries = (fieldOf(event, "entries") ?? []) as readonly { event: string; cost: number; all?: true }[];
      for (const entry of entries) {
        if (event.type === "Reserved") open.set(entry.event, entry.cost);
        else if (event.type === "Released") open.delete(entry.event);
        else if (event.type === "Settled" && open.delete(entry.event)) settled += entry.cost;
      }
      fullest = Math.max(fullest, settled + [...open.values()].reduce((sum, cost) => sum + cost, 0));
    }
    return fullest;
  };

  test("an answer survives a restart", async () => {
    const { client } = await world();
    const agent = await registerAgent(program.url, client);
    const first = await agent.execute("long", REFUND);
    await program.stop();
    program = await startProgram(engines.env, program.dir);
    const again = await agent.at(program.url).execute("long", REFUND);
    assert.equal([again.status, again.body, again.headers.get("idempotent-replayed")], [200, first.body, "true"]);
    assert.is(target.arrivals.length, 1);
  });

  test("at shutdown whoever waits is told how far it is, and it ends with 0", async () => {
    const { client } = await world();
    const agent = await registerAgent(program.url, client);
    let finish = (): void => undefined;
    target.answer((_arrival, response) => {
      finish = () => response.end("late");
    });
    const waiting = agent.execute("waits", { ...REFUND, wait_ms: 30_000 });
    await until("it is under way", () => target.arrivals.length === 1);
    const stopped = program.stop();
    const { status, body } = await waiting;
    assert.equal([status, body.status], [202, "queued"]);
    finish();
    assert.is(await stopped, 0);
    program = await startProgram(engines.env, program.dir);
  });

  test.run();
};

for (const set of engineSets()) executes(set);
