import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Reply } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { create, type Orders, type OrdersWorld, orders, ordersWorld } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** kill -9 in the middle of steps and undos. `CRASH_ROUNDS` and `CRASH_SEED` as in `crash.test.ts`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 4);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
/** Bundles of a round, under way at once: every other one is rolled back. */
const BUNDLES = 8;
/** The last step of what is rolled back is refused, so there are so many undos less one. */
const STEPS = 3;
/** Until the receiver answers: most that it has got when the program dies is in its hands. */
const ANSWER_MS_MAX = 20;
/** The shortest: where there may be other nodes, what was in flight waits for the end of its lease, 15 s later. */
const TIMEOUT_MS = 4_000;
const ENDED_MS = 90_000;

const random = seededRandom(SEED);

type Asked = { readonly key: string; readonly isToFail: boolean };

type World = {
  readonly engines: Engines;
  readonly dir: string;
  program: Program;
  readonly shop: Orders;
  readonly it: OrdersWorld;
  readonly asked: Asked[];
};

const world = async (engines: Engines): Promise<World> => {
  const dir = temporaryFolder();
  const [program, shop] = await Promise.all([startProgram(engines.env, dir), orders()]);
  shop.delay(() => random.below(ANSWER_MS_MAX));
  const it = await ordersWorld(program.url, shop.target, { endpoint: { timeout_ms: TIMEOUT_MS } });
  return { engines, dir, program, shop, it, asked: [] };
};

const ask = async ({ program, it }: World, { key, isToFail }: Asked): Promise<Reply | null> => {
  const steps = Array.from({ length: STEPS }, (_, n) =>
    create(`${key}/${n}`, isToFail && n === STEPS - 1 ? { do: "refuse" } : {}),
  );
  const reply = await it.agent
    .at(program.url)
    .bundle(key, steps)
    .catch(() => null);
  // What the program had no time to finish says nothing yet.
  return reply?.status === 200 ? reply : null;
};

/** Kills at the moment in which the receiver has got one of the round's steps, or one of its undos. */
const killedIn = async (it: World, what: "create" | "cancel"): Promise<void> => {
  const { shop, asked } = it;
  const before = shop.arrived().length;
  const most = what === "create" ? BUNDLES * STEPS : (BUNDLES / 2) * (STEPS - 1);
  const nth = 1 + random.below(most);
  await until(`${nth} of ${asked.length} bundles' came: ${what}`, () => {
    const since = shop.arrived().slice(before);
    return since.filter((arrival) => arrival.startsWith(what)).length >= nth;
  });
  await it.program.kill();
};

/** Whatever had become of it when the program died: it is done, or nothing of it is. */
const checkEnd = ({ shop }: World, { key, isToFail }: Asked, { body }: Reply): void => {
  assert.is(body.status, isToFail ? "rolled_back" : "committed", JSON.stringify(body));
  const inEffect = [...shop.effects.values()].filter((order) => order.startsWith(`${key}/`));
  const all = Array.from({ length: STEPS }, (_, n) => `${key}/${n}`);
  assert.equal(inEffect.sort(), isToFail ? [] : all, key);
};

const round = async (it: World, number: number): Promise<void> => {
  const asked = Array.from({ length: BUNDLES }, (_, n) => ({ key: `round ${number}, ${n}`, isToFail: n % 2 === 1 }));
  it.asked.push(...asked);
  const replies = Promise.all(asked.map((one) => ask(it, one)));
  await killedIn(it, number % 2 === 0 ? "create" : "cancel");
  await replies;
  it.program = await startProgram(it.engines.env, it.dir);
  await Promise.all(
    asked.map(async (one) => {
      checkEnd(it, one, await until(`${one.key} has ended`, () => ask(it, one), ENDED_MS));
    }),
  );
};

const inOrder = (events: readonly RecordedEvent[], type: string): readonly unknown[] =>
  events.filter((event) => event.type === type).map((event) => fieldOf(event, "index"));

/** Each thing that was done or taken back came under one webhook-id; each undo is in the log once, behind those of later steps. */
const check = async (it: World): Promise<void> => {
  const arrived = it.shop.arrived();
  assert.is(new Set(arrived).size, arrived.length, "nothing comes under two webhook-ids");
  await until("all is settled", async () => {
    const { client, policyId } = it.it;
    const shown = await client.at(it.program.url).call("GET", `/v1/policies/${policyId}/ledger`);
    return shown.body.requests.reserved === 0;
  });
  assert.is(await it.program.stop(), 0);
  const log = await readLogAt(locationsIn(it.engines, it.dir).log);
  const streams = new Map<string, RecordedEvent[]>();
  for (const event of log) {
    if (!event.stream.startsWith("bundle-") || event.meta.account !== it.it.client.account) continue;
    streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
  }
  assert.is(streams.size, it.asked.length);
  for (const [stream, events] of streams) {
    const started = inOrder(events, "StepStarted");
    assert.equal(started, [0, 1, 2], stream);
    const isCommitted = events.some(({ type }) => type === "BundleCommitted");
    assert.equal(inOrder(events, "StepUndone"), isCommitted ? [] : [2, 1, 0], stream);
    assert.is(events.filter(({ type }) => type === "BundleCostDetermined").length, 1, stream);
  }
};

const crashes = ({ name, open }: EngineSet, rounds: number): void => {
  const test = suite(`kill -9 in a bundle: ${name}`);

  test(`${rounds} rounds: each bundle is done, or taken back, and each of its effects is there once (CRASH_SEED=${SEED})`, async () => {
    const engines = await open();
    const it = await world(engines);
    try {
      for (let n = 0; n < rounds; n += 1) await round(it, n);
      await check(it);
    } catch (error) {
      console.log(`CRASH_SEED=${SEED} in ${it.dir}\n${it.program.output()}`);
      throw error;
    }
    await it.shop.target.close();
    removeFolder(it.dir);
    await engines.close();
  });

  test.after(killPrograms);
  test.run();
};

// A tenth of the rounds on the servers, as each is mostly waiting for leases.
for (const set of engineSets()) crashes(set, set.name === "embedded" ? ROUNDS : Math.max(2, Math.round(ROUNDS / 10)));
