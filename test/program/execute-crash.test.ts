import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type Client, type Reply, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** kill -9 between requests of agents and their answers. `CRASH_ROUNDS` and `CRASH_SEED` as in `crash.test.ts`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const AGENTS = 4;
/** Requests of each agent in a round: under way at once. */
const REQUESTS = 4;
/** A request takes some milliseconds: most kills come while some are at each of its steps. */
const KILL_AFTER_MS = 350;
const AMOUNT = 0.25;
/** The shortest: where there may be other nodes, what was in flight waits for the end of its lease, 15 s later. */
const TIMEOUT_MS = 1_000;
const ANSWERED_MS = 60_000;

const random = seededRandom(SEED);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Asked = { readonly agent: Agent; readonly key: string; readonly order: string };

type World = {
  readonly engines: Engines;
  readonly dir: string;
  program: Program;
  readonly client: Client;
  readonly target: Receiver;
  readonly policyId: string;
  readonly agents: readonly Agent[];
  readonly asked: Asked[];
};

const world = async (engines: Engines): Promise<World> => {
  const dir = temporaryFolder();
  const [program, target] = await Promise.all([startProgram(engines.env, dir), receiver()]);
  const client = await signUp(program.url);
  const settings = { timeout_ms: TIMEOUT_MS, concurrency: 50, retry_schedule_s: [1, 1, 1, 1, 1] };
  const { id: endpointId } = await client.make("/v1/endpoints", { name: "app", url: target.url, ...settings });
  await defineAction(client, "refund.create", endpointId, { cost: { pointer: "amount" } });
  const { id: policyId } = await client.make("/v1/policies", { name: "p", budget_eur_day: 1_000_000 });
  const agents = await Promise.all(
    Array.from({ length: AGENTS }, (_, n) =>
      registerAgent(program.url, client, { name: `agent ${n}`, policy_id: policyId }),
    ),
  );
  return { engines, dir, program, client, target, policyId, agents, asked: [] };
};

const ask = async ({ program }: World, { agent, key, order }: Asked): Promise<Reply | null> => {
  const payload = { order, amount: AMOUNT };
  const reply = await agent
    .at(program.url)
    .execute(key, { action: "refund.create", payload })
    .catch(() => null);
  // What the program had no time to finish says nothing yet.
  return reply !== null && reply.status < 500 && reply.status !== 202 ? reply : null;
};

/** How many had no answer when the program died. */
const round = async (it: World): Promise<number> => {
  const asked = it.agents.flatMap((agent) =>
    Array.from({ length: REQUESTS }, (_, index) => {
      const order = `order-${it.asked.length}-${it.agents.indexOf(agent)}-${index}`;
      return { agent, key: order, order };
    }),
  );
  it.asked.push(...asked);
  it.target.answer(({ body }, response) => {
    const { order } = JSON.parse(body) as { order: string };
    const answer = JSON.stringify({ did: order });
    setTimeout(() => response.setHeader("content-type", "application/json").end(answer), random.below(30));
  });
  const replies = Promise.all(
    asked.map(async (one) => {
      await pause(random.below(60));
      return ask(it, one);
    }),
  );
  await pause(random.below(KILL_AFTER_MS));
  await it.program.kill();
  const unanswered = (await replies).filter((reply) => reply === null).length;
  it.program = await startProgram(it.engines.env, it.dir);
  for (const one of asked) {
    const reply = await until(`${one.key} is answered`, () => ask(it, one), ANSWERED_MS);
    assert.equal([reply.status, reply.body.status], [200, "delivered"], JSON.stringify(reply.body));
    assert.equal(reply.body.result, { status_code: 200, body: { did: one.order } });
  }
  return unanswered;
};

/** Each thing that was asked for is one webhook-id at the target, one event in the log, and was paid for once. */
const check = async (it: World): Promise<void> => {
  const idsOf = new Map<string, Set<string>>();
  for (const { id, body } of it.target.arrivals) {
    const { order } = JSON.parse(body) as { order: string };
    idsOf.set(order, (idsOf.get(order) ?? new Set()).add(id));
  }
  assert.equal([...idsOf.keys()].sort(), it.asked.map(({ order }) => order).sort());
  for (const [order, ids] of idsOf) assert.is(ids.size, 1, order);
  const { body } = await until("all is settled", async () => {
    const shown = await it.client.at(it.program.url).call("GET", `/v1/policies/${it.policyId}/ledger`);
    return shown.body.requests.reserved === 0 ? shown : null;
  });
  // Midnight may come between: then the rest is the day's before.
  assert.ok(body.requests.settled <= it.asked.length);
  assert.is(await it.program.stop(), 0);
  const events = (await readLogAt(locationsIn(it.engines, it.dir).log)).filter(
    ({ meta }) => meta.account === it.client.account,
  );
  for (const type of ["EventAdmitted", "EventDelivered", "CostDetermined"]) {
    const ids = events.filter((event) => event.type === type).map((event) => String(fieldOf(event, "event_id")));
    assert.equal([ids.length, new Set(ids).size], [it.asked.length, it.asked.length], type);
  }
  const entries = events
    .filter(({ type, stream }) => type === "Settled" && stream.startsWith(`ledger-${it.policyId}-`))
    .flatMap((event) => fieldOf(event, "entries") as readonly { event: string; cost: number }[]);
  const settled = new Map(entries.map(({ event, cost }) => [event, cost]));
  assert.is(settled.size, it.asked.length);
  for (const cost of settled.values()) assert.is(cost, AMOUNT * 1_000_000);
};

const crashes = ({ name, open }: EngineSet, rounds: number): void => {
  const test = suite(`kill -9 between request and answer: ${name}`);

  test(`${rounds} rounds: what was asked for is done under one webhook-id, answered the same, and paid for once (CRASH_SEED=${SEED})`, async () => {
    const engines = await open();
    const it = await world(engines);
    let unanswered = 0;
    try {
      for (let n = 0; n < rounds; n += 1) unanswered += await round(it);
      await check(it);
    } catch (error) {
      console.log(`CRASH_SEED=${SEED} in ${it.dir}\n${it.program.output()}`);
      throw error;
    }
    console.log(`${it.asked.length} requests, ${unanswered} unanswered when the program was killed`);
    await it.target.close();
    removeFolder(it.dir);
    await engines.close();
  });

  test.after(killPrograms);
  test.run();
};

// A tenth of the rounds on the servers, as each is mostly waiting for leases.
for (const set of engineSets()) crashes(set, set.name === "embedded" ? ROUNDS : Math.max(1, Math.round(ROUNDS / 10)));
