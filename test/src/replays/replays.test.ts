import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { replay as replayDecider } from "../../../domain/replay/decider.ts";
import type { ReplayFilter } from "../../../domain/replay/events.ts";
import type { ReplayDocument } from "../../../projections/replays.ts";
import { planReplay } from "../../../src/replays/plan.ts";
import { replayStream } from "../../../src/replays/stream.ts";
import { foldStream } from "../../../src/streams/run-command.ts";
import { failingLog } from "../../support/failing-log.ts";
import { words } from "../../support/personal-words.ts";
import { ACCOUNT, BY, type ReplayWorld, replayIdOf, replayNode, replayWorld } from "../../support/replay-world.ts";
import { until } from "../../support/until.ts";

const test = suite("replays of many");
type Node = Awaited<ReturnType<typeof replayNode>>;
const RATE = 1_000;

const ids = async (world: ReplayWorld, count: number): Promise<readonly string[]> => {
  const made: string[] = [];
  for (let number = 1; number <= count; number += 1) made.push(await world.failed(number));
  return made;
};

/** As the route starts one. */
const started = async (
  node: Node,
  filter: ReplayFilter = { status: "failed" },
  rate = RATE,
  number = 1,
  log: string | null = null,
  account = ACCOUNT,
) => {
  await node.shown();
  const plan = await planReplay({ ...node, aggregates: node.streams }, account, filter, 10_000);
  if (typeof plan === "string") throw new Error(plan);
  const id = replayIdOf(number);
  const at = new Date().toISOString();
  const about = { replay_id: id, account, filter, total: plan.count, rate_per_second: rate };
  // Of another log the position says nothing.
  const upTo = log === null ? { up_to: plan.upTo, log: await node.log.identity() } : { up_to: "0", log };
  await node.streams.handle(
    replayDecider,
    replayStream(id),
    { type: "StartReplay", replay: { ...about, by: BY, reason: words("mended"), ...upTo }, place: 1, at },
    { commandId: `start-${id}`, account, actor: BY, trace: { trace_id: "1", span_id: "2" }, at },
  );
  return { id, plan };
};
const stateOf = async (world: ReplayWorld, id: string) =>
  (await foldStream(world.log, replayDecider, replayStream(id))).state;
const isDone = (world: ReplayWorld, id: string) => async () => (await stateOf(world, id)).phase === "done";
const shownOf = async (node: Node, id: string): Promise<ReplayDocument> => {
  await node.shown();
  // What the view's own projection has put.
  return (await node.views.get("replays.v1", id)) as unknown as ReplayDocument;
};
const replayedIds = async (world: ReplayWorld) =>
  (await world.ofType("EventReplayed")).map(({ data }) => String(data.event_id));

test("each planned event is replayed once, in the order of receipt, with the person and the reason", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 130);
  await world.admitted(500);
  await world.blocked(501);
  const node = await replayNode(world);
  const { id, plan } = await started(node);
  assert.is(plan.count, 130);
  node.bulkReplayer.start();
  node.bulkReplayer.begin(id, ACCOUNT);
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), [...failed].sort());
  for (const { data, meta } of await world.ofType("EventReplayed"))
    assert.equal([data.replay_id, data.reason, meta.actor], [id, words("mended"), BY]);
  const { total, replayed, skipped, status } = await shownOf(node, id);
  assert.equal([total, replayed, skipped, status], [130, 130, 0, "done"]);
  await node.stop();
});

test("a replay that another node started is found, and events that cannot be replayed are skipped", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 3);
  const node = await replayNode(world);
  const { id } = await started(node);
  // Erased, and replayed by somebody, since it was counted.
  await world.append(failed[0] ?? "", [
    {
      type: "PayloadErased",
      data: { event_id: failed[0] ?? "", reason: "asked", up_to: 0, at: new Date().toISOString() },
    },
  ]);
  assert.is((await node.replay(failed[1] ?? "", 7)).outcome, "replayed");
  await node.shown();
  node.bulkReplayer.start();
  await until("it is done", isDone(world, id));
  const { total, replayed, skipped } = await shownOf(node, id);
  assert.equal([total, replayed, skipped], [3, 1, 2]);
  await node.stop();
});

test("events that fail again or for the first time during a replay are not part of it", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 2);
  const node = await replayNode(world);
  const { id } = await started(node);
  await world.failed(9);
  await node.shown();
  node.bulkReplayer.start();
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), [...failed].sort());
  for (const it of failed) await world.attempt(it, { kind: "timeout", detail: "late" });
  const { total, replayed, failed: again, delivered } = await shownOf(node, id);
  assert.equal([total, replayed, again, delivered], [2, 2, 2, 0]);
  await node.stop();
});

test("a cancelled replay stops, and the deliveries it has sent continue", async () => {
  const world = await replayWorld();
  await ids(world, 40);
  const node = await replayNode(world);
  const { id } = await started(node, { status: "failed" }, 50);
  node.bulkReplayer.start();
  node.bulkReplayer.begin(id, ACCOUNT);
  await until("it has begun", async () => (await replayedIds(world)).length >= 3);
  const at = new Date().toISOString();
  const cancel = { type: "CancelReplay", account: ACCOUNT, by: BY, reason: words("enough"), at } as const;
  const envelope = { commandId: "cancel", account: ACCOUNT, actor: BY, trace: { trace_id: "1", span_id: "2" }, at };
  await node.streams.handle(replayDecider, replayStream(id), cancel, envelope);
  await node.bulkReplayer.stop();
  const count = (await replayedIds(world)).length;
  assert.ok(count < 40, `${count} of 40`);
  assert.is((await stateOf(world, id)).phase, "cancelled");
  await node.stop();
});

test("a bulk replay keeps to its rate", async () => {
  const world = await replayWorld();
  await ids(world, 12);
  const node = await replayNode(world);
  const { id } = await started(node, { status: "failed" }, 20);
  node.bulkReplayer.start();
  node.bulkReplayer.begin(id, ACCOUNT);
  await until("it is done", isDone(world, id));
  const times = (await world.ofType("EventReplayed")).map(({ data }) => Date.parse(String(data.at)));
  // The eleventh is due 10 / 20 s behind the first, which may be a quarter of a second late; timers end a little early.
  assert.ok((times.at(-2) ?? 0) - (times[0] ?? 0) >= 10 * 50 - 250 - 15, String(times));
  await node.stop();
});

test("two nodes at one replay double nothing, and one of them does it", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 150);
  const both = [await replayNode(world), await replayNode(world)] as const;
  const { id } = await started(both[0], { status: "failed" }, 300);
  await Promise.all(both.map((node) => node.shown()));
  for (const { bulkReplayer } of both) {
    bulkReplayer.start();
    bulkReplayer.begin(id, ACCOUNT);
  }
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), [...failed].sort());
  const { total, replayed, skipped } = await shownOf(both[0], id);
  assert.equal([total, replayed, skipped], [150, 150, 0]);
  for (const node of both) await node.stop();
});

test("stopped anywhere and begun again from its checkpoint, it replays each event once", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 260);
  const first = await replayNode(world);
  const { id } = await started(first);
  await first.stop();
  for (const limit of [30, 140, 200]) {
    // A log that answers nothing any more behind so many replays: what a crash leaves.
    let isGone = false;
    const log = failingLog(world.log, () => isGone);
    const node = await replayNode(world, { log, othersAreGone: true, onError: () => undefined });
    await node.shown();
    node.bulkReplayer.start();
    node.bulkReplayer.begin(id, ACCOUNT);
    await until(`${limit} are replayed`, async () => (await replayedIds(world)).length >= limit);
    isGone = true;
    await node.stop();
  }
  const last = await replayNode(world, { othersAreGone: true });
  await last.shown();
  last.bulkReplayer.start();
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), [...failed].sort());
  const { total, replayed, skipped } = await shownOf(last, id);
  assert.equal([total, replayed, skipped], [260, 260, 0]);
  await last.stop();
});

test("as long as the view does not show all of them it waits", async () => {
  const world = await replayWorld();
  await ids(world, 5);
  const node = await replayNode(world);
  const { id, plan } = await started(node);
  const behind = { ...node.views, position: async () => "" };
  const waiting = await replayNode(world, { views: behind });
  waiting.bulkReplayer.start();
  waiting.bulkReplayer.begin(id, ACCOUNT);
  await waiting.bulkReplayer.stop();
  assert.is(plan.count, 5);
  assert.equal(await replayedIds(world), []);
  assert.is((await stateOf(world, id)).phase, "running");
  await waiting.stop();
  await node.stop();
});

test("a view that is dropped while it runs ends it for no event, not even for one that is listed again later than others", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 4);
  const node = await replayNode(world);
  const { id, plan } = await started(node);
  // The first look reads a view that lists the last event only, and only afterwards learns that it is not complete.
  let looks = 0;
  const rebuilt: ViewStore = {
    ...node.views,
    position: async (view) => (looks === 1 ? "0" : node.views.position(view)),
    async page(view, query) {
      const found = await node.views.page(view, query);
      if (view !== "events.v3") return found;
      looks += 1;
      return looks === 1 ? found.slice(-1) : found;
    },
  };
  const other = await replayNode(world, { views: rebuilt });
  other.bulkReplayer.start();
  other.bulkReplayer.begin(id, ACCOUNT);
  await until("it has begun to read the view", () => looks > 0);
  await other.bulkReplayer.stop();
  assert.equal(await replayedIds(world), []);
  looks = 2;
  // The claim of the node that has stopped runs out.
  world.clock.advance(30_000);
  node.bulkReplayer.start();
  node.bulkReplayer.begin(id, ACCOUNT);
  await until("another one has done it", isDone(world, id));
  assert.equal([plan.count, [...(await replayedIds(world))].sort()], [4, [...failed].sort()]);
  await other.stop();
  await node.stop();
});

test("an event whose replay throws an error is reported and skipped, and later events are replayed", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 5);
  const errors: unknown[] = [];
  const node = await replayNode(world, {
    onError: (error) => errors.push(error),
    onReplay: (eventId) => {
      if (eventId === failed[1]) throw new TypeError("a record that nobody can read");
    },
  });
  const { id } = await started(node);
  node.bulkReplayer.start();
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), failed.filter((it) => it !== failed[1]).sort());
  assert.equal(errors.map(String), ["TypeError: a record that nobody can read"]);
  const { total, replayed, skipped } = await shownOf(node, id);
  assert.equal([total, replayed, skipped], [5, 4, 1]);
  await node.stop();
});

test("a replay continues to its end in a copy of the log, which has other positions", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 3);
  const node = await replayNode(world);
  const { id } = await started(node, { status: "failed" }, RATE, 1, "another log");
  await world.failed(9);
  await node.shown();
  node.bulkReplayer.start();
  await until("it is done", isDone(world, id));
  assert.equal([...(await replayedIds(world))].sort(), [...failed].sort());
  await node.stop();
});

test("many replays of one account take a part of a node: another account's is worked on at once", async () => {
  const world = await replayWorld();
  const failed = await ids(world, 2);
  const node = await replayNode(world);
  for (let number = 1; number <= 40; number += 1) await started(node, { status: "failed" }, 1, number, null);
  const { id } = await started(node, { status: "failed" }, RATE, 50, null, "acc_b");
  await node.shown();
  node.bulkReplayer.start();
  await until("the other account's is done", isDone(world, id));
  const claimed = new Set((await world.ofType("ReplayProgressed")).map(({ data }) => data.replay_id));
  assert.is(claimed.size, 3, "two of the one, one of the other");
  assert.ok(failed.length > 0);
  await node.stop();
});

test.run();
