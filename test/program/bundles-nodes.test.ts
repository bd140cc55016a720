import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Agent } from "../support/agent.ts";
import type { Reply } from "../support/client.ts";
import { type Engines, locationsIn, sharedEngines } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { create, type Orders, orders, ordersWorld } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const BUNDLES = 20;
const WAIT = { wait_ms: 30_000 };
const ENDED_MS = 120_000;

/** What a busy machine has no time to finish in one wait, a repeat answers. */
const endOf = (agent: Agent, key: string, steps: Parameters<Agent["bundle"]>[1]): Promise<Reply["body"]> =>
  until(
    `${key} has ended`,
    async () => {
      const { status, body } = await agent.bundle(key, steps, WAIT);
      return status === 200 ? body : null;
    },
    ENDED_MS,
  );

const bundlesAtNodes = (open: () => Promise<Engines>): void => {
  const test = suite("bundles at several nodes");
  let engines: Engines;
  let shop: Orders;
  let dirs: readonly string[];

  test.before.each(async () => {
    dirs = [temporaryFolder(), temporaryFolder()];
    [engines, shop] = await Promise.all([open(), orders()]);
  });
  test.after.each(async () => {
    killPrograms();
    await shop.target.close();
    await engines.close();
    for (const dir of dirs) removeFolder(dir);
  });

  const start = (which: number, env: Record<string, string> = {}): Promise<Program> =>
    startProgram({ ...engines.env, ...env }, dirs[which]);

  test("asked for at both at once, each bundle is one, and each of its steps and undos is sent once", async () => {
    const [a, b] = await Promise.all([start(0), start(1)]);
    const { agent, client } = await ordersWorld(a.url, shop.target);
    const replies = await Promise.all(
      Array.from({ length: BUNDLES }, async (_, n) => {
        const steps = [create(`${n}/0`), create(`${n}/1`), create(`${n}/2`, n % 2 === 0 ? {} : { do: "refuse" })];
        const both = await Promise.all([a, b].map(({ url }) => endOf(agent.at(url), `key ${n}`, steps)));
        assert.equal(both[0], both[1]);
        return both[0];
      }),
    );
    for (const [n, { status }] of replies.entries()) assert.is(status, n % 2 === 0 ? "committed" : "rolled_back");
    // Each by its webhook-id.
    const sent = BUNDLES * 3 + (BUNDLES / 2) * 2;
    assert.is(shop.target.arrivals.length, sent);
    assert.equal([...new Set(shop.target.counts().values())], [1]);
    assert.is(new Set(shop.arrived()).size, sent, "nothing comes under two webhook-ids");
    for (const program of [a, b]) assert.is(await program.stop(), 0, program.output());
    const log = await readLogAt(locationsIn(engines, dirs[0] ?? "").log);
    const started = log
      .filter(({ type, meta }) => meta.account === client.account && (type === "StepStarted" || type === "UndoStarted"))
      .map((event) => String(fieldOf(event, "event_id")));
    assert.equal([started.length, new Set(started).size], [sent, sent]);
  });

  test("a node that dies leaves its bundles to the other one", async () => {
    const [a, b] = await Promise.all([start(0), start(1)]);
    const { agent } = await ordersWorld(a.url, shop.target, { endpoint: { timeout_ms: 1_000 } });
    const steps = [create("first"), create("second", { do: "hang" }), create("third")];
    const begun = await agent.bundle("key", steps, { wait_ms: 0 });
    await until("the second runs", () => shop.hanging() === 1);
    await a.kill();
    // Whichever sent it: if it was the one that is gone, the other sends it again once the lease is over.
    const ended = await until(
      "it is committed",
      async () => {
        shop.letGo();
        const { body } = await agent.at(b.url).bundleNow(begun.body.id);
        return body.status === "committed" ? body : null;
      },
      60_000,
    );
    assert.equal(shop.arrived(), ["create first", "create second", "create third"]);
    assert.equal([...shop.effects.values()], ["first", "second", "third"]);
    assert.is(ended.id, begun.body.id);
  });

  test("if one process answers and another delivers, the other carries bundles out", async () => {
    const [api] = await Promise.all([start(0, { ROLES: "api" }), start(1, { ROLES: "projector,deliverer" })]);
    const { agent } = await ordersWorld(api.url, shop.target);
    const { status } = await endOf(agent, "divided", [create("a"), create("b")]);
    assert.is(status, "committed");
    assert.equal(shop.arrived(), ["create a", "create b"]);
  });

  test.run();
};

const shared = sharedEngines("bundles at several nodes");
if (shared !== null) bundlesAtNodes(shared.open);
