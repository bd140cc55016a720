import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { awayFromMidnight } from "../support/calendar-room.ts";
import { type Client, signUp } from "../support/client.ts";
import { type Engines, sharedEngines } from "../support/engine-sets.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const REFUND = { action: "refund.create", payload: { order: "o-1" } };
/** How soon a suspension holds at every node. */
const SUSPENDED_MS = 1_000;
/** Between two questions. */
const PAUSE_MS = 20;

const executesAtNodes = (open: () => Promise<Engines>): void => {
  const test = suite("agents act at several nodes");
  let engines: Engines;
  let target: Receiver;
  let dirs: readonly string[];

  test.before.each(async () => {
    await awayFromMidnight();
    dirs = [temporaryFolder(), temporaryFolder()];
    [engines, target] = await Promise.all([open(), receiver()]);
  });
  test.after.each(async () => {
    killPrograms();
    await target.close();
    await engines.close();
    for (const dir of dirs) removeFolder(dir);
  });

  const start = (which: number, env: Record<string, string> = {}): Promise<Program> =>
    startProgram({ ...engines.env, ...env }, dirs[which]);

  const agentAt = async (base: string, policy: Record<string, unknown> = {}): Promise<[Client, Agent]> => {
    const client = await signUp(base);
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url, retry_schedule_s: [3_600] });
    await defineAction(client, REFUND.action, app.id, { cost: { fixed_eur: 1 } });
    const { id } = await client.make("/v1/policies", { name: "p", ...policy });
    return [client, await registerAgent(base, client, { policy_id: id })];
  };

  test("one key at both at once is one call of the target and one answer; a budget is one for both", async () => {
    const [a, b] = await Promise.all([start(0), start(1)]);
    const [, agent] = await agentAt(a.url, { budget_eur_day: 3 });
    const at = (n: number): Agent => agent.at((n % 2 === 0 ? a : b).url);
    const same = await Promise.all(Array.from({ length: 20 }, (_, n) => at(n).execute("same", REFUND)));
    for (const { status, body } of same) assert.equal([status, body], [200, same[0]?.body]);
    assert.is(same.filter(({ headers }) => headers.get("idempotent-replayed") === "true").length, 19);
    assert.equal([...target.counts().values()], [1]);
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, n) => at(n).execute(`other-${n}`, { ...REFUND, payload: { n } })),
    );
    assert.is(others.filter(({ status }) => status === 200).length, 2);
    assert.is(others.filter(({ body }) => body.code === "gate-budget").length, 18);
    for (const program of [a, b]) assert.is(await program.stop(), 0, program.output());
  });

  test("suspended at one node it is refused at the other within a second, and what waits for a retry there is cancelled", async () => {
    const [a, b] = await Promise.all([start(0), start(1)]);
    const [client, agent] = await agentAt(a.url);
    target.answer((_arrival, response) => response.writeHead(503).end());
    const there = agent.at(b.url);
    const tried = await there.execute("tried", { ...REFUND, wait_ms: 0 });
    await until(
      "it has failed once",
      async () => (await there.execution(tried.body.event_id)).body.status === "retrying",
    );
    await client.call("POST", `/v1/agents/${agent.id}/suspend`, { reason: "stop" });
    const suspendedAt = performance.now();
    for (let asked = 1; ; asked += 1) {
      // However long its answer takes on this machine.
      const sinceMs = performance.now() - suspendedAt;
      const { body } = await there.execute(`more-${asked}`, { ...REFUND, payload: { asked }, wait_ms: 0 });
      if (body.code === "agent-suspended") break;
      assert.ok(sinceMs < SUSPENDED_MS, `taken ${sinceMs} ms behind the suspension`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    await until("what it had asked for is cancelled", async () => {
      const { body } = await there.execution(tried.body.event_id);
      return body.status === "cancelled";
    });
    for (const program of [a, b]) assert.is(await program.stop(), 0, program.output());
  });

  test("if one process answers and another delivers, waiting callers learn the outcome from the log", async () => {
    const [api] = await Promise.all([start(0, { ROLES: "api" }), start(1, { ROLES: "projector,deliverer" })]);
    const [, agent] = await agentAt(api.url);
    target.answer((_arrival, response) => response.end("done"));
    const { status, body } = await agent.execute("divided", REFUND);
    assert.equal([status, body.status, body.result], [200, "delivered", { status_code: 200, body: "done" }]);
  });

  test.run();
};

const shared = sharedEngines("agents at several nodes");
if (shared !== null) executesAtNodes(shared.open);
