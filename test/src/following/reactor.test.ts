import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import type { Reaction } from "../../../src/following/reaction.ts";
import { Reactor, type ReactorOptions } from "../../../src/following/reactor.ts";
import { appendTo, history } from "../../support/history.ts";
import { until } from "../../support/until.ts";

const test = suite("reactor");

const fail = (error: unknown): never => {
  throw error;
};

const begin = (log: EventLog, fails: (i: unknown) => boolean = () => false, options?: ReactorOptions) => {
  const seen: unknown[] = [];
  const errors: unknown[] = [];
  const reaction = {
    on: "Happened",
    async run({ data }: { data: { readonly i?: unknown } }) {
      if (fails(data.i)) throw new Error("not now");
      seen.push(data.i);
    },
  };
  const it: Reactor = new Reactor(
    { log, clock: { now: () => 0 }, onError: (error) => errors.push(error) },
    [reaction],
    options,
  );
  it.start();
  return { it, seen, errors };
};

const sample = (count: number) => {
  const { add, events } = history();
  for (let i = 0; i < count; i += 1) {
    add(`delivery-evt_${i % 3}`, { type: "Happened", data: { i } });
    add(`delivery-evt_${i % 3}`, { type: "Else", data: {} });
  }
  return events;
};
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

test("a reactor handles each event of its types once in order, and its checkpoint names the last one", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(20));
  const { it, seen } = begin(log);
  await until("all are dealt with", () => seen.length === 20);
  await it.stop();
  assert.equal(seen, upTo(20));
  const last = (await log.readTypes(["Happened"], null, 100)).events.at(-1);
  const kept = await log.last("checkpoint-reactor");
  assert.equal(kept?.data, { position: last?.position, stream: last?.stream, revision: last?.revision });
});

test("a failing reactor holds up no other, because each has its own checkpoint", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(3));
  const stuck = begin(log, () => true, { name: "others", gatherMs: 1, failingMs: 0 });
  const { it, seen } = begin(log);
  await until("one has done all, the other has tried", () => seen.length === 3 && stuck.errors.length > 0);
  assert.equal([it.healthy(), stuck.it.healthy()], [true, false]);
  await Promise.all([it.stop(), stuck.it.stop()]);
  assert.is(await log.last("checkpoint-others"), null);
  const again = begin(log, () => false, { name: "others", gatherMs: 1 });
  await until("it has caught up", () => again.seen.length === 3);
  await again.it.stop();
  const [one, other] = [await log.last("checkpoint-reactor"), await log.last("checkpoint-others")];
  assert.equal(one?.data, other?.data);
});

test("one that begins at the end leaves out what was before, and nothing that came after it was first started", async () => {
  const log = memoryEventLog();
  const old = history();
  for (let i = 0; i < 3; i += 1) old.add("delivery-evt_old", { type: "Happened", data: { i } });
  await appendTo(log, old.events);
  const options = { name: "late", gatherMs: 1, failingMs: 0, beginsAtEnd: true };
  const first = begin(log, () => true, options);
  await until("its place is written down", async () => (await log.last("checkpoint-late")) !== null);
  await appendTo(log, sample(4));
  await until("it has tried", () => first.errors.length > 0);
  await first.it.stop();
  assert.equal(first.seen, []);
  const again = begin(log, () => false, options);
  await until("it has caught up", () => again.seen.length === 4);
  await again.it.stop();
  assert.equal(again.seen, upTo(4));
});

test("a failed reaction is tried again after a pause, even while many events are appended", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(1));
  const { it, errors } = begin(log, () => true);
  await until("it has failed", () => errors.length === 1);
  const { add, events } = history();
  for (let i = 0; i < 50; i += 1) add("delivery-evt_later", { type: "Happened", data: { i } });
  for (const event of events) await appendTo(log, [event]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(errors.length, 1);
  await it.stop();
});

test("a reaction that has to wait is no error: it is tried again, later events wait, and the wait is reported", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(3));
  const told: string[] = [];
  const seen: unknown[] = [];
  let isThere = false;
  const reaction: Reaction = {
    on: "Happened",
    async run({ data }) {
      if (data.i === 1 && !isThere) return { waitsFor: "the view" };
      seen.push(data.i);
      return undefined;
    },
  };
  const waits = { waiting: (waitsFor: string) => told.push(waitsFor), over: () => told.push("over") };
  const options = { name: "waiting", gatherMs: 1, failingMs: 0, waits };
  const it = new Reactor({ log, clock: { now: () => 0 }, onError: fail }, [reaction], options);
  it.start();
  await until("it waits", () => told.includes("the view"));
  assert.is(it.healthy(), false);
  assert.equal(seen, [0]);
  assert.is(await log.last("checkpoint-waiting"), null);
  isThere = true;
  await until("all are dealt with", () => seen.length === 3);
  await until("the wait is over", () => told.at(-1) === "over");
  assert.is(it.healthy(), true);
  await it.stop();
  assert.equal(seen, [0, 1, 2]);
});

test("each waiting event begins a new wait", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(2));
  const told: string[] = [];
  let reached = -1;
  const reaction: Reaction = {
    on: "Happened",
    run: async ({ data }) => (Number(data.i) > reached ? { waitsFor: String(data.i) } : undefined),
  };
  const waits = { waiting: (waitsFor: string) => told.push(waitsFor), over: () => told.push("over") };
  const it = new Reactor({ log, clock: { now: () => 0 }, onError: fail }, [reaction], {
    name: "waiting",
    gatherMs: 1,
    waits,
  });
  it.start();
  await until("the first waits", () => told.includes("0"));
  reached = 0;
  await until("the second waits", () => told.includes("1"));
  await it.stop();
  assert.equal([...new Set(told)], ["0", "over", "1"]);
});

test("looking alone writes nothing", async () => {
  const log = memoryEventLog();
  const { add, events } = history();
  for (let i = 0; i < 30; i += 1) add("delivery-evt_1", { type: "Else", data: {} });
  await appendTo(log, events);
  const looked: unknown[] = [];
  const watched: EventLog = {
    ...log,
    async readTypes(...args) {
      const page = await log.readTypes(...args);
      looked.push(page.upTo);
      return page;
    },
  };
  const { it } = begin(watched);
  await until("it has looked at all", () => looked.includes(null));
  await it.stop();
  assert.is(await log.last("checkpoint-reactor"), null);
});

test("where nothing is found for long, how far it has looked is written down now and then", async () => {
  const log = memoryEventLog();
  const { add, events } = history();
  for (let i = 0; i < 300; i += 1) add("delivery-evt_1", { type: "Else", data: {} });
  await appendTo(log, events);
  // A log that looks through one record a look.
  const short: EventLog = {
    ...log,
    async readTypes(types, after) {
      const [next] = await log.readAll(after, 1);
      if (next === undefined) return { events: [], upTo: null };
      return { events: types.includes(next.type) ? [next] : [], upTo: next.position };
    },
  };
  const { it } = begin(short);
  await until("it has looked at most of it", async () => {
    const kept = await log.last("checkpoint-reactor");
    return Number(kept?.data.revision) >= 199;
  });
  await it.stop();
  const kept = await log.readAll(null, 1_000);
  assert.ok(kept.length - events.length <= 13, "and no more often than that");
});

test("a restarted reactor continues after its checkpoint, also in a copy of the log with other positions", async () => {
  const log = memoryEventLog();
  const events = sample(12);
  await appendTo(log, events.slice(0, 14));
  const first = begin(log);
  await until("seven are dealt with", () => first.seen.length === 7);
  await first.it.stop();
  const copy = memoryEventLog();
  const earlier = history();
  for (let i = 0; i < 9; i += 1) earlier.add("payload-x", { type: "PayloadKept", data: {} });
  await appendTo(copy, earlier.events);
  await appendTo(copy, await log.readAll(null, 1_000));
  await appendTo(copy, events.slice(14));
  const second = begin(copy);
  await until("the rest is dealt with", () => second.seen.length >= 5);
  await second.it.stop();
  assert.equal(second.seen, [7, 8, 9, 10, 11]);
});

test("an event whose reaction fails is tried again, and none is passed over", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(5));
  let failures = 0;
  const { it, seen, errors } = begin(log, (i) => {
    if (i !== 3 || failures > 0) return false;
    failures += 1;
    return true;
  });
  await until("all are dealt with", () => seen.length === 5);
  await it.stop();
  assert.equal(seen, upTo(5));
  assert.is(errors.length, 1);
});

test("keys are dealt with side by side, at most so many, each in its order; the checkpoint waits for all of the page", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(12));
  const seen: unknown[] = [];
  let running = 0;
  let most = 0;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reaction: Reaction = {
    on: "Happened",
    async run({ data }) {
      running += 1;
      most = Math.max(most, running);
      if (data.i === 0) await held;
      await new Promise((resolve) => setTimeout(resolve, 1));
      seen.push(data.i);
      running -= 1;
    },
  };
  const atOnce = { keyOf: ({ stream }: { stream: string }) => stream, keysMax: 2 };
  const it = new Reactor({ log, clock: { now: () => 0 }, onError: fail }, [reaction], {
    name: "keyed",
    gatherMs: 1,
    atOnce,
  });
  it.start();
  await until("the other keys are done", () => seen.length === 8);
  assert.is(await log.last("checkpoint-keyed"), null);
  release();
  await until("all are dealt with", () => seen.length === 12);
  await it.stop();
  assert.is(most, 2);
  for (const key of [0, 1, 2])
    assert.equal(
      seen.filter((i) => Number(i) % 3 === key),
      [key, key + 3, key + 6, key + 9],
    );
  const last = (await log.readTypes(["Happened"], null, 100)).events.at(-1);
  assert.is((await log.last("checkpoint-keyed"))?.data.revision, last?.revision);
});

test("when one key of a page fails, the others are handled once, and the failed key continues where it failed", async () => {
  const log = memoryEventLog();
  await appendTo(log, sample(9));
  let failures = 0;
  const atOnce = { keyOf: ({ stream }: { stream: string }) => stream, keysMax: 3 };
  const fails = (i: unknown): boolean => {
    if (i !== 4 || failures > 0) return false;
    failures += 1;
    return true;
  };
  const { it, seen } = begin(log, fails, { name: "keyed", gatherMs: 1, atOnce });
  await until("all are dealt with", () => seen.length === 9);
  await it.stop();
  assert.equal([...seen].sort(), upTo(9));
  assert.equal(
    seen.filter((i) => Number(i) % 3 === 1),
    [1, 4, 7],
  );
});

test.run();
