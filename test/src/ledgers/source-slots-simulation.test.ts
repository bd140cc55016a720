import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS, type Plan } from "../../../domain/account/plans.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { sources } from "../../../projections/sources.ts";
import type { Principal } from "../../../src/http/route.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";
import { slots } from "../../../src/ledgers/slots.ts";
import { sourceRoutes } from "../../../src/routes/sources/sources.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import type { Envelope } from "../../../src/streams/envelope.ts";
import { caller, callOf } from "../../support/call.ts";
import { noControls } from "../../support/no-controls.ts";
import { addressed } from "../../support/personal-words.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { mortalLog, nap, ROUNDS, SEED, sumOfRounds } from "../../support/simulation.ts";

/**
 * Three nodes register and delete sources at the plan's limit, repeat commands at other nodes, lose replies and die, while
 * the clock jumps and the plan becomes smaller and larger. `FUZZ_ROUNDS` says how many rounds; `FUZZ_SEED` repeats those of
 * a failed run.
 */
const test = suite(`the plan's limit on sources on three nodes, seed ${SEED}`);
const ACCOUNT = "acc_1";
const LEDGER = `ledger-${ACCOUNT}-sources`;
const ADMIN: Principal = {
  kind: "member",
  account: ACCOUNT,
  id: "mem_1",
  ...addressed(""),
  role: "admin",
  session: "s",
};
const LIMITS = [1, 2, 4];
const PHASES = 6;
const CALLS = 14;
/** Longer than a request may take: a ledger then asks what became of it. */
const JUMP_MS = 31_000;

type World = { readonly log: EventLog; readonly clock: { ms: number; now(): number }; plan: Plan };

const nodeOf = (world: World, random: SeededRandom) => {
  const { log, kill, unlessDead } = mortalLog(world.log, random);
  const places = ledgers({
    ...{ log, clock: world.clock, randomness, orphanAgeMs: 30_000, onError: () => undefined },
    placeStatus: placeStatus(log, world.clock, randomness),
  });
  const streams = aggregates(log, world.clock);
  const call = caller(
    sourceRoutes({
      aggregates: streams,
      views: memoryViewStore([sources.schema]),
      box: { seal: (secret) => secret },
      publicUrl: () => "http://localhost",
      slots: slots({ ledgers: places, aggregates: streams, planOf: async () => world.plan }),
      endpointExists: async () => true,
      controls: noControls,
      policyExists: async () => true,
    }),
  );
  return {
    ledgers: places,
    kill,
    unlessDead,
    register: async (envelope: Envelope) =>
      (await call("POST", "/v1/sources", { principal: ADMIN, body: { name: "shop", type: "github" }, envelope }))
        .outcome,
    remove: async (id: string) =>
      (await call("DELETE", "/v1/sources/{id}", { principal: ADMIN, params: { id } })).outcome,
  };
};

/** The sources that are there, and the most that there were when one was registered `after` so many records. */
const presentIn = async (log: EventLog, after: number) => {
  const present = new Set<string>();
  let most = 0;
  for (const [index, { type, data }] of (await log.readAll(null, 100_000)).entries()) {
    if (type === "SourceDeleted") present.delete(String(data.source_id));
    if (type !== "SourceRegistered") continue;
    assert.not(present.has(String(data.source_id)), "a source is registered twice");
    present.add(String(data.source_id));
    if (index >= after) most = Math.max(most, present.size);
  }
  return { present, most };
};

const round = async (random: SeededRandom): Promise<number> => {
  const clock = { ms: Date.parse("2026-05-05T12:00:00Z"), now: () => clock.ms };
  const world: World = { log: memoryEventLog(), clock, plan: PLANS.free };
  const nodes = [nodeOf(world, random), nodeOf(world, random), nodeOf(world, random)];
  for (let phase = 0; phase < PHASES; phase += 1) {
    const limit = LIMITS[random.below(LIMITS.length)] ?? 1;
    world.plan = { ...PLANS.free, endpoints: limit };
    const after = (await world.log.readAll(null, 100_000)).length;
    const under: Promise<unknown>[] = [];
    // A command that has reserved a slot keeps it when the plan becomes smaller, so each phase has commands of its own.
    const commands: Envelope[] = [];
    for (let n = 0; n < CALLS; n += 1) {
      const index = random.below(nodes.length);
      const node = nodes[index] as (typeof nodes)[number];
      const { present } = await presentIn(world.log, 0);
      const victim = [...present][random.below(Math.max(1, present.size))];
      if (victim !== undefined && random.next() < 0.45) under.push(node.unlessDead(node.remove(victim)));
      else {
        const again = random.next() < 0.4 ? commands[commands.length - 1 - random.below(3)] : undefined;
        const envelope = again ?? callOf({ principal: ADMIN }).envelope;
        if (again === undefined) commands.push(envelope);
        under.push(node.unlessDead(node.register(envelope)));
      }
      if (random.next() < 0.1) clock.ms += JUMP_MS;
      if (random.next() < 0.2) for (const each of nodes) under.push(each.unlessDead(each.ledgers.sweep()));
      if (random.next() < 0.05) {
        node.kill();
        nodes[index] = nodeOf(world, random);
      }
      await nap(random);
    }
    await Promise.all(under);
    const { most } = await presentIn(world.log, after);
    assert.ok(most <= limit, `phase ${phase}: ${most} of ${limit} sources`);
    clock.ms += 1_000;
  }
  clock.ms += JUMP_MS;
  const { present } = await presentIn(world.log, 0);
  const last = nodeOf(world, { ...random, next: () => 0.5 });
  assert.is((await last.ledgers.figures(LEDGER, ACCOUNT)).open, present.size, "a slot for each source");
  return (await world.log.readAll(null, 100_000)).filter(({ type }) => type === "SlotFreed").length;
};

test(`${ROUNDS} rounds: a source is only registered below the limit, and each source has one slot`, async () => {
  const fences = await sumOfRounds(round);
  assert.ok(fences > 0);
});

test.run();
