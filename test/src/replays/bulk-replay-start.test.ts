import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { RUNNING_MAX } from "../../../domain/replay/places.ts";
import { OutcomeUnknown } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { replayPlacesStream } from "../../../src/replays/stream.ts";
import { onEachLog } from "../../support/each-log.ts";
import { failingLog } from "../../support/failing-log.ts";
import { testClock } from "../../support/http-app.ts";
import { losingLog } from "../../support/losing-log.ts";
import { ACCOUNT, replayNode, replayWorld } from "../../support/replay-world.ts";
import { startingNode } from "../../support/starting-node.ts";

const test = suite("replays that start");
/** Longer than a request that has taken a place may need to start its replay. */
const START_MS = 30_000;

const ADMIN_KEY = { kind: "key", account: ACCOUNT, id: "key_1", role: "admin" } as const;

const running = async (log: EventLog): Promise<number> => {
  const types = (await log.readAll(null, 10_000)).map(({ type }) => type);
  const count = (wanted: string) => types.filter((type) => type === wanted).length;
  return count("ReplayStarted") - count("ReplayFinished") - count("ReplayCancelled");
};

/** Starts replays with these numbers, one after the other, until all places are taken; answers how many were started. */
const fill = async (node: ReturnType<typeof startingNode>, from = 100): Promise<number> => {
  for (let started = 0; ; started += 1) if ((await node.start(from + started)) === "full") return started;
};

test("of many requests at two nodes at once no more replays are started than may run", async () => {
  const world = await replayWorld();
  await world.failed(1);
  const nodes = [await replayNode(world), await replayNode(world)];
  for (const node of nodes) await node.shown();
  const post = (n: number) =>
    nodes[n % 2]?.call("POST", "/v1/replays", { body: { filter: { status: "failed" } }, principal: ADMIN_KEY });
  const outcomes = (await Promise.all(Array.from({ length: 60 }, (_, n) => post(n)))).map((it) => it?.outcome);
  assert.is(outcomes.filter((outcome) => outcome === 202).length, RUNNING_MAX);
  assert.is(outcomes.filter((outcome) => outcome === "conflict").length, 60 - RUNNING_MAX);
  assert.is(await running(world.log), RUNNING_MAX);
  for (const node of nodes) await node.stop();
});

test(
  "two nodes that start replays at once share the places, on each engine of the log",
  onEachLog(async (log) => {
    const clock = testClock();
    const nodes = [startingNode(log, clock), startingNode(log, clock)];
    const started = await Promise.all(Array.from({ length: 30 }, (_, n) => nodes[n % 2]?.start(n)));
    assert.is(started.filter((outcome) => outcome === "started").length, RUNNING_MAX);
    assert.is(await running(log), RUNNING_MAX);
    await nodes[0]?.end(started.indexOf("started"), "FinishReplay");
    clock.advance(1_000);
    assert.is(await nodes[1]?.start(99), "started");
    assert.is(await running(log), RUNNING_MAX);
  }),
);

test("a replay that has ended on another node leaves its place to the next one", async () => {
  const [log, clock] = [memoryEventLog(), testClock()];
  const [first, other] = [startingNode(log, clock), startingNode(log, clock)];
  assert.is(await fill(first), RUNNING_MAX);
  assert.is(await other.start(1), "full");
  assert.is(await other.start(2, "acc_b"), "started");
  await other.end(100, "FinishReplay");
  await other.end(101, "CancelReplay");
  // A node may know of another node's change a tenth of a second later.
  clock.advance(1_000);
  assert.is(await fill(first, 200), 2);
  assert.is(await running(log), RUNNING_MAX + 1);
});

test("the same command again is the same replay, also when all places are taken, and takes no other place", async () => {
  const [log, clock] = [memoryEventLog(), testClock()];
  const node = startingNode(log, clock);
  assert.is(await fill(node), RUNNING_MAX);
  for (const again of [node, startingNode(log, clock)]) assert.is(await again.start(100), "started");
  assert.is(await running(log), RUNNING_MAX);
  assert.is((await log.last(replayPlacesStream(ACCOUNT)))?.revision, RUNNING_MAX - 1);
});

for (const side of ["before", "behind"] as const) {
  test(`after a crash ${side} any append, no place is lost, and no more replays run than may`, async () => {
    for (let nth = 1; nth <= 2; nth += 1) {
      const [log, clock] = [memoryEventLog(), testClock()];
      const mortal = losingLog(log, nth, side);
      await startingNode(mortal.log, clock)
        .start(1)
        .catch(() => undefined);
      assert.is(mortal.died(), nth === 1 ? "ReplayPlaceTaken" : "ReplayStarted");
      const survivor = startingNode(log, clock);
      await fill(survivor);
      clock.advance(START_MS);
      await fill(survivor, 200);
      assert.is(await running(log), RUNNING_MAX, `${nth}`);
      assert.is(await survivor.start(1), nth === 2 && side === "behind" ? "started" : "full");
      await survivor.end(200, "CancelReplay");
      await survivor.end(100, "CancelReplay");
      assert.is(await survivor.start(1), "started");
    }
  });
}

test("a request that was taken for dead before it started its replay needs another place", async () => {
  const [log, clock] = [memoryEventLog(), testClock()];
  const survivor = startingNode(log, clock);
  let filled = 0;
  const slow = startingNode(
    {
      ...log,
      async append(stream, expected, events) {
        if (events[0]?.type === "ReplayStarted" && filled === 0) {
          clock.advance(START_MS);
          filled = await fill(survivor);
        }
        return log.append(stream, expected, events);
      },
    },
    clock,
  );
  assert.is(await slow.start(1), "full");
  assert.equal([filled, await running(log)], [RUNNING_MAX, RUNNING_MAX]);
  await survivor.end(100, "FinishReplay");
  clock.advance(1_000);
  assert.is(await slow.start(1), "started");
  assert.is(await running(log), RUNNING_MAX);
});

test("while the log is away every request fails, and the next one starts its replay", async () => {
  const [log, clock] = [memoryEventLog(), testClock()];
  let isAway = true;
  const node = startingNode(
    failingLog(log, () => isAway),
    clock,
  );
  const failed = await Promise.allSettled([1, 2, 3].map((number) => node.start(number)));
  assert.equal(
    failed.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  isAway = false;
  assert.is(await node.start(4), "started");
});

test("a lost reply neither takes a second place nor starts the replay twice", async () => {
  const [log, clock] = [memoryEventLog(), testClock()];
  const lost = new Set<string>();
  const node = startingNode(
    {
      ...log,
      async append(stream, expected, events) {
        const appended = await log.append(stream, expected, events);
        const [id = ""] = events.map((event) => event.id);
        if (lost.has(id)) return appended;
        lost.add(id);
        throw new OutcomeUnknown("no reply");
      },
    },
    clock,
  );
  assert.is(await fill(node), RUNNING_MAX);
  assert.is(await running(log), RUNNING_MAX);
});

test.run();
