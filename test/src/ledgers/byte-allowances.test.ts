import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS, type Plan } from "../../../domain/account/plans.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { byteAllowances } from "../../../src/ledgers/byte-allowances.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";

const test = suite("byte allowances");

const NOON = Date.parse("2026-03-01T12:00:00.000Z");
const DAY_MS = 86_400_000;
const LIMIT = 6_400;
const LEASE = LIMIT / 64;
const ACCOUNT = "acc_1";

type World = { readonly log: EventLog; plan: Plan; now: number };
const worldOf = (): World => ({ log: memoryEventLog(), plan: { ...PLANS.free, storedBytesDay: LIMIT }, now: NOON });

const nodeOf = (world: World) => {
  const clock = { now: () => world.now };
  const onError = (error: unknown): never => {
    throw error;
  };
  const places = ledgers({
    ...{ log: world.log, clock, randomness, onError },
    placeStatus: placeStatus(world.log, clock, randomness),
    orphanAgeMs: 0,
  });
  const accountOf = async () => ({ plan: world.plan });
  return { places, ...byteAllowances({ ledgers: places, clock, randomness, accountOf, onError }) };
};

const takeAll = async (node: ReturnType<typeof nodeOf>, bytes: number): Promise<number> => {
  let all = 0;
  while ((await node.take(ACCOUNT, "stored", bytes)) !== null) all += bytes;
  return all;
};

test("one process uses the allowance to the last byte, by one append for each lease and not for each body", async () => {
  const world = worldOf();
  assert.is(await takeAll(nodeOf(world), 10), LIMIT);
  const reserved = (await world.log.readAll(null, 10_000)).filter(({ type }) => type === "Reserved");
  assert.is(reserved.length, LIMIT / LEASE);
});

test("many at once on three nodes never take more than the allowance, and leave less than a lease for each node", async () => {
  const world = worldOf();
  const nodes = [nodeOf(world), nodeOf(world), nodeOf(world)];
  const taken = await Promise.all(
    Array.from({ length: 600 }, async (_, n) => {
      const bytes = 1 + (n % 37);
      return (await nodes[n % 3]?.take(ACCOUNT, "stored", bytes)) ? bytes : 0;
    }),
  );
  const all = taken.reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(all <= LIMIT && all > LIMIT - nodes.length * LEASE, `${all}`);
  assert.is(taken.includes(0), true);
});

test("bytes leased by a process that ended stay spent, and no other process takes them", async () => {
  const world = worldOf();
  const first = nodeOf(world);
  assert.ok(await first.take(ACCOUNT, "stored", 1));
  world.now += 60_000;
  const second = nodeOf(world);
  await second.places.sweep();
  assert.is(await takeAll(second, 1), LIMIT - LEASE);
});

test("bytes that are given back are there for the next, and a body larger than a lease is taken as one", async () => {
  const node = nodeOf(worldOf());
  const large = await node.take(ACCOUNT, "stored", LIMIT);
  assert.is(await node.take(ACCOUNT, "stored", 1), null);
  large?.giveBack();
  assert.is(await takeAll(node, LIMIT / 2), LIMIT);
  assert.is(await node.take(ACCOUNT, "stored", LIMIT + 1), null);
});

test("the next day has an allowance of its own, and what is given back of the day before is not added to it", async () => {
  const world = worldOf();
  const node = nodeOf(world);
  const before = await node.take(ACCOUNT, "stored", LIMIT);
  world.now += DAY_MS;
  before?.giveBack();
  assert.is(await takeAll(node, 100), LIMIT);
});

test("a larger plan holds at once, on the same day", async () => {
  const world = worldOf();
  const node = nodeOf(world);
  assert.is(await takeAll(node, 100), LIMIT);
  world.plan = { ...world.plan, storedBytesDay: 2 * LIMIT };
  assert.is(await takeAll(node, 100), LIMIT);
});

test("only leased bytes are at hand, and a miss leases more for later requests", async () => {
  const node = nodeOf(worldOf());
  assert.is(node.takeAtHand(ACCOUNT, "stored", 10), null);
  assert.ok(await node.take(ACCOUNT, "stored", 10));
  for (let n = 1; n < LEASE / 10; n += 1) assert.ok(node.takeAtHand(ACCOUNT, "stored", 10), `${n}`);
  assert.is(node.takeAtHand(ACCOUNT, "stored", 10), null);
  await node.places.idle();
});

test("accounts, and an account's stored and refused bytes, are counted separately", async () => {
  const world = worldOf();
  const node = nodeOf(world);
  assert.is(await takeAll(node, 100), LIMIT);
  assert.ok(await node.take("acc_2", "stored", LIMIT));
  assert.ok(await node.take(ACCOUNT, "refused", LIMIT));
});

test.run();
