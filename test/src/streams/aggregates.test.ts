import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accept, type Decider } from "../../../domain/decider.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { aggregates, STALENESS_MAX_MS } from "../../../src/streams/aggregates.ts";
import type { Envelope } from "../../../src/streams/envelope.ts";
import { testClock } from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

/** Streams as one node of several keeps them in memory. */
const test = suite("aggregates");

type Added = { readonly type: "Added"; readonly data: { readonly by: string } };
const names: Decider<readonly string[], { readonly by: string }, Added, never> = {
  initial: [],
  evolve: (state, { data }) => [...state, data.by],
  decide: ({ by }) => accept({ type: "Added", data: { by } }),
};
const STREAM = "source-1";

const world = () => {
  const kept = memoryEventLog();
  const clock = testClock();
  let reads = 0;
  let held: Promise<void> = Promise.resolve();
  const log: EventLog = {
    ...kept,
    async read(...args) {
      reads += 1;
      const until = held;
      const page = await kept.read(...args);
      await until;
      return page;
    },
  };
  const envelope = (commandId: string): Envelope => ({
    commandId,
    account: "acc_1",
    actor: { kind: "system", id: "test" },
    trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
    at: new Date(clock.now()).toISOString(),
  });
  const node = () => {
    const streams = aggregates(log, clock);
    return {
      atHand: () => streams.atHand(names, STREAM)?.state ?? null,
      load: async (maxAgeMs?: number) => (await streams.load(names, STREAM, maxAgeMs)).state,
      add: (by: string) => streams.handle(names, STREAM, { by }, envelope(by)),
      watch: (onChanged: () => void, stream = STREAM) => streams.watch(stream, onChanged),
    };
  };
  return {
    clock,
    node,
    reads: () => reads,
    /** What `ask` reads is on its way until the function that is returned is called. */
    hold(ask: () => void): () => void {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      ask();
      held = Promise.resolve();
      return release;
    },
  };
};

test("another node's append is seen after 100 ms, this node's own at once", async () => {
  const { node, clock } = world();
  const [here, there] = [node(), node()];
  assert.equal(await here.load(), []);
  await there.add("there");
  clock.advance(STALENESS_MAX_MS - 1);
  assert.equal(await here.load(), []);
  clock.advance(1);
  assert.equal(await here.load(), ["there"]);
  await here.add("here");
  assert.equal(await here.load(), ["there", "here"]);
});

test("a load with no allowed age reads the stream", async () => {
  const { node } = world();
  const [here, there] = [node(), node()];
  await here.load();
  await there.add("there");
  assert.equal(await here.load(0), ["there"]);
});

test("a hundred that ask at once share one look, unless it began too long ago", async () => {
  const { node, clock, reads, hold } = world();
  const [here, there] = [node(), node()];
  const waiting: Promise<unknown>[] = [];
  const release = hold(() => {
    for (let n = 0; n < 100; n += 1) waiting.push(here.load());
  });
  assert.is(reads(), 1);
  clock.advance(STALENESS_MAX_MS);
  await here.load();
  assert.is(reads(), 2);
  release();
  await Promise.all(waiting);
  await there.add("there");
  clock.advance(STALENESS_MAX_MS);
  assert.equal(await Promise.all([here.load(), here.load(0)]), [["there"], ["there"]]);
});

test("a look that began before this node's own change does not take it back", async () => {
  const { node, clock, hold } = world();
  const here = node();
  await here.load();
  clock.advance(STALENESS_MAX_MS);
  let looking: Promise<unknown> = Promise.resolve();
  const release = hold(() => {
    looking = here.load();
  });
  await here.add("here");
  release();
  assert.equal(await looking, ["here"]);
  assert.equal(await here.load(), ["here"]);
});

test("a watcher is called when this node learns of new events, by its own append or by a read", async () => {
  const { node, clock } = world();
  const [here, there] = [node(), node()];
  const calls = { first: 0, second: 0, other: 0 };
  const stop = here.watch(() => {
    calls.first += 1;
  });
  here.watch(() => {
    calls.second += 1;
  });
  here.watch(() => {
    calls.other += 1;
  }, "source-2");
  await here.add("here");
  assert.equal(calls, { first: 1, second: 1, other: 0 });
  await there.add("there");
  await here.load();
  assert.equal(calls, { first: 1, second: 1, other: 0 });
  clock.advance(STALENESS_MAX_MS);
  await here.load();
  assert.equal(calls, { first: 2, second: 2, other: 0 });
  stop();
  stop();
  await here.load(0);
  await here.add("again");
  assert.equal(calls, { first: 2, second: 3, other: 0 });
});

test("a look that fails fails for all who waited for it, and the next one looks again", async () => {
  const log = memoryEventLog();
  let isAway = true;
  const streams = aggregates(
    { ...log, read: async (...args) => (isAway ? Promise.reject(new Error("away")) : log.read(...args)) },
    testClock(),
  );
  const load = () => streams.load(names, STREAM);
  const outcomes = await Promise.allSettled([load(), load()]);
  assert.equal(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  isAway = false;
  assert.equal((await load()).state, []);
});

test("a state is at hand while it is young enough to be used without a read, and stays so while it is asked for", async () => {
  const { node, clock, reads } = world();
  const [here, there] = [node(), node()];
  assert.is(here.atHand(), null, "never loaded");
  await here.load();
  assert.equal(here.atHand(), []);
  clock.advance(STALENESS_MAX_MS);
  assert.is(here.atHand(), null);
  await here.load();
  await there.add("b");
  clock.advance(STALENESS_MAX_MS - 1);
  const before = reads();
  assert.equal([here.atHand(), here.atHand()], [[], []], "the read is under way");
  assert.is(reads(), before + 1);
  await until("the read has come back", () => here.atHand()?.length === 1);
  clock.advance(STALENESS_MAX_MS - 1);
  assert.equal(here.atHand(), ["b"]);
});

test.run();
