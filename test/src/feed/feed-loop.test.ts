import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { CloudEvent } from "../../../domain/ports/feed.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { FeedLoop, type FeedLoopDeps, type FeedTimes } from "../../../src/feed/feed-loop.ts";
import { appendTo, history } from "../../support/history.ts";
import { POSITIONS } from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

const test = suite("feed loop");
const STREAM = "checkpoint-feed";

const TIMES: FeedTimes = {
  pollMs: 20,
  gatherMs: 1,
  checkpointMs: 20,
  lookMs: 5,
  takeOverMs: 60,
  backoffMinMs: 2,
  backoffMaxMs: 10,
};
const STOP_MS = 2_000;

/** A feed that keeps what it is given, and fails or waits when it is told to. */
const recordingFeed = () => {
  const taken: CloudEvent[] = [];
  const state = { isAway: false, calls: 0, atOnce: 0, atOnceMax: 0, gate: Promise.resolve() };
  return {
    taken,
    state,
    async publish(events: readonly CloudEvent[]) {
      state.calls += 1;
      state.atOnce += 1;
      state.atOnceMax = Math.max(state.atOnceMax, state.atOnce);
      try {
        await state.gate;
        // A batch can be half done when the connection breaks.
        taken.push(...(state.isAway ? events.slice(0, Math.floor(events.length / 2)) : events));
        if (state.isAway) throw new Error("the broker is away");
      } finally {
        state.atOnce -= 1;
      }
    },
  };
};
type RecordingFeed = ReturnType<typeof recordingFeed>;

const begun: FeedLoop[] = [];
const begin = (log: FeedLoopDeps["log"], feed: FeedLoopDeps["feed"], over: Partial<FeedLoopDeps> = {}): FeedLoop => {
  const loop = new FeedLoop({
    log,
    feed,
    positions: POSITIONS,
    clock: { now: () => Date.now() },
    node: "node_a",
    othersAreGone: false,
    onError: () => undefined,
    times: TIMES,
    ...over,
  });
  begun.push(loop);
  loop.start();
  return loop;
};
test.after.each(async () => {
  for (const loop of begun.splice(0)) await loop.stop(STOP_MS);
});

const add = async (log: EventLog, from: number, count: number): Promise<void> => {
  for (let i = from; i < from + count; i += 1) {
    const record = history().add("delivery-evt", { type: "Happened", data: { i } });
    await log.append(`delivery-evt_${i % 5}`, "any", [{ ...record, id: `record-${i}` }]);
  }
};

const recordsOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.readAll(null, 100_000, "records")).filter(({ stream }) => !stream.startsWith("checkpoint-"));
const checkpoints = (log: EventLog) => log.read(STREAM, null, 1_000);
const ids = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id);
/** When each came first: repeats are allowed, gaps and another order are not. */
const firsts = (feed: Pick<RecordingFeed, "taken">): string[] => [...new Set(ids(feed.taken))];
const isAllTaken = (log: EventLog, feed: RecordingFeed) => async () =>
  new Set(ids(feed.taken)).size === (await recordsOf(log)).length;

test("every record is published once and in order, and neither payloads nor checkpoints are", async () => {
  const log = memoryEventLog();
  const { add: put, events } = history();
  put("payload-evt_1", { type: "PayloadKept", data: { body: "x" } });
  put("delivery-evt_1", { type: "EventAdmitted", data: {} });
  put("checkpoint-ledger-pol_1", { type: "LedgerCheckpointed", data: {} }, { account: "" });
  await appendTo(log, events);
  await add(log, 0, 300);
  const feed = recordingFeed();
  begin(log, feed);
  await until("the beginning is published", isAllTaken(log, feed));
  await add(log, 300, 300);
  await until("the rest is published", isAllTaken(log, feed));
  assert.equal(ids(feed.taken), ids(await recordsOf(log)));
});

test("the checkpoint names the last record published, and an idle feed writes nothing more", async () => {
  const log = memoryEventLog();
  await add(log, 0, 12);
  const feed = recordingFeed();
  const loop = begin(log, feed);
  const last = (await recordsOf(log)).at(-1);
  assert.ok(last);
  await until("the checkpoint is there", async () => (await log.last(STREAM))?.data.stream === last.stream);
  const { position, stream, revision } = last;
  assert.equal((await log.last(STREAM))?.data, { position, stream, revision, node: "node_a" });
  const { length } = await checkpoints(log);
  const { calls } = feed.state;
  await log.append("checkpoint-other", "any", [{ ...last, id: "other" }]);
  await until("it has looked again", () => loop.status().position !== position);
  assert.is((await checkpoints(log)).length, length);
  assert.is(feed.state.calls, calls);
  assert.equal(loop.status().state, "publishing");
  assert.is(loop.status().lag_s, 0);
  assert.is(loop.status().published, 12);
});

test("records published after the last checkpoint before a crash are published again, and none is left out", async () => {
  const log = memoryEventLog();
  await add(log, 0, 20);
  const feed = recordingFeed();
  // The first checkpoint claims the feed; the process ends before there is a second.
  let appends = 0;
  let isDead = false;
  const dying: FeedLoopDeps["log"] = {
    ...log,
    async append(stream, expected, events) {
      appends += 1;
      if (appends > 1) isDead = true;
      if (isDead) throw new Error("the process has ended");
      return log.append(stream, expected, events);
    },
  };
  const first = begin(dying, feed);
  await until("it has published and died", () => isDead);
  await first.stop(STOP_MS);
  const before = feed.taken.length;
  assert.ok(before >= 20);
  await add(log, 20, 5);
  begin(log, feed, { node: "node_b", othersAreGone: true });
  await until("all is published", isAllTaken(log, feed));
  assert.equal(firsts(feed), ids(await recordsOf(log)));
  assert.ok(feed.taken.length > 25);
});

test("while the broker is away it backs off and says so; then all comes, in order", async () => {
  const log = memoryEventLog();
  await add(log, 0, 30);
  const feed = recordingFeed();
  const errors: unknown[] = [];
  const loop = begin(log, feed, { onError: (error) => errors.push(error) });
  await until("the beginning is published", isAllTaken(log, feed));
  feed.state.isAway = true;
  await add(log, 30, 60);
  await until("it has tried several times", () => errors.length >= 3);
  const { state, lag_s } = loop.status();
  assert.is(state, "failing");
  assert.ok(lag_s > 0);
  // A broker that restarts is no alarm.
  assert.ok(loop.healthy());
  await add(log, 90, 10);
  feed.state.isAway = false;
  await until("all is published", isAllTaken(log, feed));
  assert.equal(firsts(feed), ids(await recordsOf(log)));
  await until("it is well again", () => loop.status().state === "publishing");
  assert.is(loop.status().lag_s, 0);
});

test("no more than one page is read ahead of a slow broker", async () => {
  const log = memoryEventLog();
  await add(log, 0, 2_000);
  const feed = recordingFeed();
  let open: () => void = () => undefined;
  feed.state.gate = new Promise((resolve) => {
    open = resolve;
  });
  let pages = 0;
  const counted: FeedLoopDeps["log"] = {
    ...log,
    readAll: (...args) => {
      pages += 1;
      return log.readAll(...args);
    },
  };
  begin(counted, feed);
  await until("the first page is under way", () => feed.state.calls === 1);
  await add(log, 2_000, 50);
  assert.is(pages, 1);
  open();
  await until("all is published", isAllTaken(log, feed));
  assert.is(feed.state.atOnceMax, 1);
});

test("one of two nodes publishes and the other stands by, also while there are no records for long", async () => {
  const log = memoryEventLog();
  const feeds = [recordingFeed(), recordingFeed()] as const;
  // A machine that is busy elsewhere for so long would make of the one that feeds one that hangs.
  const times = { ...TIMES, takeOverMs: 2_000 };
  const a = begin(log, feeds[0], { times });
  await until("a feeds", () => a.status().state === "publishing");
  const b = begin(log, feeds[1], { node: "node_b", times });
  for (let round = 0; round < 2; round += 1) {
    await add(log, round * 10, 10);
    await until("a has published", isAllTaken(log, feeds[0]));
    // Longer than the time after which a node that moves nothing is replaced.
    await new Promise((resolve) => setTimeout(resolve, times.takeOverMs));
  }
  assert.is(feeds[1].taken.length, 0);
  assert.is(b.status().state, "standing-by");
  assert.ok(b.healthy());
  assert.equal(ids(feeds[0].taken), ids(await recordsOf(log)));
});

test("a node that stops leaves the feed to the other at once, without a repeat", async () => {
  const log = memoryEventLog();
  const feed = recordingFeed();
  const times = { ...TIMES, takeOverMs: 60_000, checkpointMs: 60_000 };
  const a = begin(log, feed, { times });
  await until("a feeds", () => a.status().state === "publishing");
  begin(log, feed, { node: "node_b", times });
  await add(log, 0, 25);
  await until("a has published", isAllTaken(log, feed));
  await a.stop(STOP_MS);
  await add(log, 25, 25);
  await until("b has published the rest", isAllTaken(log, feed));
  assert.equal(ids(feed.taken), ids(await recordsOf(log)));
});

test("a node that hangs is replaced; when it comes back it finds that out and stands by", async () => {
  const log = memoryEventLog();
  const [feedA, feedB] = [recordingFeed(), recordingFeed()];
  const a = begin(log, feedA);
  await until("a feeds", () => a.status().state === "publishing");
  const b = begin(log, feedB, { node: "node_b" });
  let open: () => void = () => undefined;
  feedA.state.gate = new Promise((resolve) => {
    open = resolve;
  });
  await add(log, 0, 40);
  await until("b has taken over and published", isAllTaken(log, feedB));
  open();
  await until("a stands by", () => a.status().state === "standing-by");
  assert.is(b.status().state, "publishing");
  await add(log, 40, 10);
  await until("b has published the rest", isAllTaken(log, feedB));
  assert.equal(ids(feedB.taken), ids(await recordsOf(log)));
  // What a had in hand came twice, and in order.
  assert.equal(ids(feedA.taken), ids(await recordsOf(log)).slice(0, feedA.taken.length));
});

test("a node whose broker is away finds out that it was replaced, although it can publish nothing", async () => {
  const log = memoryEventLog();
  const [feedA, feedB] = [recordingFeed(), recordingFeed()];
  const a = begin(log, feedA);
  await until("a feeds", () => a.status().state === "publishing");
  feedA.state.isAway = true;
  begin(log, feedB, { node: "node_b" });
  await add(log, 0, 40);
  await until("b has taken over and published", isAllTaken(log, feedB));
  await until("a stands by", () => a.status().state === "standing-by");
});

test("a checkpoint whose reply was lost is found, and the feed goes on", async () => {
  const log = memoryEventLog();
  let lost = 0;
  const forgetful: FeedLoopDeps["log"] = {
    ...log,
    async append(...args) {
      const appended = await log.append(...args);
      lost += 1;
      if (lost % 2 === 0) throw new Error("the reply was lost");
      return appended;
    },
  };
  const feed = recordingFeed();
  begin(forgetful, feed, { times: { ...TIMES, takeOverMs: 60_000 } });
  for (let round = 0; round < 4; round += 1) {
    await add(log, round * 10, 10);
    await until("all is published", isAllTaken(log, feed));
    await until("it is written down", async () => (await log.last(STREAM))?.data.node === "node_a");
  }
  assert.equal(firsts(feed), ids(await recordsOf(log)));
});

test("a log copied to an engine with other positions is fed on where it was", async () => {
  const log = memoryEventLog();
  await add(log, 0, 30);
  const feed = recordingFeed();
  const first = begin(log, feed, { node: "node_b", othersAreGone: true });
  await until("all is published", isAllTaken(log, feed));
  await first.stop(STOP_MS);
  const copy = memoryEventLog();
  // Something before everything else moves all positions.
  const earlier = history();
  earlier.add("payload-x", { type: "PayloadKept", data: {} });
  await appendTo(copy, earlier.events);
  await appendTo(copy, await log.readAll(null, 1_000));
  await add(copy, 30, 7);
  const next = recordingFeed();
  begin(copy, next, { node: "node_c", othersAreGone: true });
  await until("the rest is published", () => next.taken.length >= 7);
  assert.equal(ids(next.taken), ids(await recordsOf(copy)).slice(30));
});

test("stopping waits for the page in hand, and no longer than it may", async () => {
  const log = memoryEventLog();
  await add(log, 0, 5);
  const feed = recordingFeed();
  let open: () => void = () => undefined;
  feed.state.gate = new Promise((resolve) => {
    open = resolve;
  });
  const loop = begin(log, feed);
  await until("the page is under way", () => feed.state.calls === 1);
  await loop.stop(10);
  assert.is(feed.taken.length, 0);
  open();
  await until("the page is published after all, and written down", async () => {
    const last = await log.last(STREAM);
    return last?.data.node === null && last.data.stream === "delivery-evt_4";
  });
});

test.run();
