import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { Projector, type ProjectorFailure, type ProjectorOptions } from "../../../src/views/projector.ts";
import { rebuildViews } from "../../../src/views/rebuild.ts";
import { watchedViews } from "../../../src/views/watched-views.ts";
import { appendNumbered } from "../../support/numbered-log.ts";
import { COUNTS, PROJECTIONS } from "../../support/numbered-projections.ts";
import { until } from "../../support/until.ts";

/** Positions of two logs are alike, and say nothing of each other. */
const test = suite("views of another log");

const SCHEMAS = PROJECTIONS.map(({ schema }) => schema);
const NAMES = SCHEMAS.map(({ name }) => name);
const QUICK: ProjectorOptions = { pollMs: 5, gatherMs: 0, retryMinMs: 1, retryMaxMs: 5 };

const logOf = async (events: number): Promise<EventLog> => {
  const log = memoryEventLog();
  await appendNumbered(log, 1, events);
  return log;
};

const hasFolded = async (views: ViewStore, log: EventLog): Promise<void> => {
  const head = await log.head();
  await until("all is folded", async () => {
    const positions = await Promise.all(NAMES.map((name) => views.position(name)));
    return positions.every((position) => position === head);
  });
};

const countIn = async (views: ViewStore): Promise<unknown> => (await views.get(COUNTS, "all"))?.count;

type Followed = { readonly following: Projector; readonly dropped: string[]; readonly failures: ProjectorFailure[] };

const follow = async (log: EventLog, views: ViewStore): Promise<Followed> => {
  const dropped: string[] = [];
  const failures: ProjectorFailure[] = [];
  const following = new Projector(log, views, PROJECTIONS, {
    ...QUICK,
    onDropped: (names) => dropped.push(...names),
    onError: (failure) => failures.push(failure),
  });
  await following.start();
  return { following, dropped, failures };
};

/** Folds the log to its end; resolves with the views that were dropped before. */
const fold = async (log: EventLog, views: ViewStore): Promise<readonly string[]> => {
  const { following, dropped } = await follow(log, views);
  await hasFolded(views, log);
  await following.stop();
  return dropped;
};

test("views of another log are dropped and folded again once at the start, and that is reported", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [first, second] = [await logOf(20), await logOf(7)];
  assert.equal(await fold(first, views), [], "nothing is said of views that are new");
  assert.equal(await fold(first, views), []);
  assert.equal(await fold(second, views), NAMES);
  assert.is(await countIn(views), 7);
  assert.equal(await fold(second, views), []);
});

test("views of an unknown log are dropped and folded again", async () => {
  const views = memoryViewStore(SCHEMAS);
  const log = await logOf(5);
  await views.commit(COUNTS, null, (await log.head()) ?? "", { documents: new Map([["all", { count: 99 }]]) });
  assert.equal(await fold(log, views), [COUNTS]);
  assert.is(await countIn(views), 5);
});

test("views that a projector left before it had emptied them are dropped and folded again", async () => {
  const views = memoryViewStore(SCHEMAS);
  const log = await logOf(5);
  await fold(log, views);
  let isEmptied = false;
  const interrupted: ViewStore = {
    ...views,
    async origin(view) {
      const origin = await views.origin(view);
      return origin === null || view !== COUNTS ? origin : { ...origin, isEmptied };
    },
    async drop(view, identity) {
      await views.drop(view, identity);
      isEmptied = true;
    },
  };
  assert.equal(await fold(log, interrupted), [COUNTS]);
  assert.equal(await fold(log, interrupted), []);
});

test("two projectors that start at once on them fold what one alone does", async () => {
  const views = memoryViewStore(SCHEMAS);
  await fold(await logOf(30), views);
  const log = await logOf(11);
  const both = await Promise.all([follow(log, views), follow(log, views)]);
  await hasFolded(views, log);
  for (const { following } of both) await following.stop();
  assert.is(await countIn(views), 11);
  assert.equal(
    both.flatMap(({ failures }) => failures),
    [],
  );
});

test("a projector stops and reports when its views were taken over for another log", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [old, log] = [await logOf(3), await logOf(8)];
  const late = await follow(old, views);
  await hasFolded(views, old);
  await fold(log, views);
  await until("it is seen", () => late.failures.length > 0);
  await appendNumbered(old, 4, 30);
  await until("it is seen again", () => late.failures.length > 10);
  await late.following.stop();
  assert.match(String(late.failures[0]?.error), /is a view of another log by now/);
  assert.is(await countIn(views), 8);
  assert.is(await views.position(COUNTS), await log.head());
});

test("a store that forgets everything while it is followed is filled again", async () => {
  let views = memoryViewStore(SCHEMAS);
  const log = await logOf(9);
  const current = new Proxy(views, { get: (_, name) => Reflect.get(views, name) });
  const { following, failures } = await follow(log, current);
  await hasFolded(current, log);
  views = memoryViewStore(SCHEMAS);
  await hasFolded(current, log);
  await following.stop();
  assert.equal(failures, []);
  assert.is(await countIn(current), 9);
  const { last: _, ...origin } = (await current.origin(COUNTS)) ?? {};
  assert.equal(origin, { log: await log.identity(), isEmptied: true });
});

test("a rebuild makes the view that it rebuilds this log's, and leaves the others", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [old, log] = [await logOf(20), await logOf(6)];
  await fold(old, views);
  const counts = PROJECTIONS.filter(({ schema }) => schema.name === COUNTS);
  await rebuildViews(log, views, counts, QUICK);
  assert.is(await countIn(views), 6);
  assert.equal(
    await fold(log, views),
    NAMES.filter((name) => name !== COUNTS),
  );
});

/** A log and copies of it as a backup keeps them: one name, and each goes on in its own way. */
const copies = async (count: number, events: number): Promise<EventLog[]> =>
  Promise.all(
    Array.from({ length: count }, async () => ({ ...(await logOf(events)), identity: async () => "one log" })),
  );

/** The views that were dropped with their reasons. */
const foldTelling = async (log: EventLog, views: ViewStore): Promise<readonly string[]> => {
  const told: string[] = [];
  const following = new Projector(log, views, PROJECTIONS, {
    ...QUICK,
    onDropped: (names, reason) => told.push(...names.map((name) => `${name}: ${reason}`)),
  });
  await following.start();
  await hasFolded(views, log);
  await following.stop();
  return told;
};

test("views that are ahead of a restored log are folded again once, and that is reported", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [log, backup] = await copies(2, 7);
  if (log === undefined || backup === undefined) throw new Error("there are two copies");
  await appendNumbered(log, 8, 20);
  assert.equal(await foldTelling(log, views), []);
  const told = NAMES.map((name) => `${name}: record-missing`);
  assert.equal(await foldTelling(backup, views), told);
  assert.is(await countIn(views), 7);
  assert.equal(await foldTelling(backup, views), []);
  assert.equal(await foldTelling(log, views), [], "a log that only has more is the same log");
  assert.is(await countIn(views), 20);
});

test("views are folded again as well if the restored log has grown to their position or past it", async () => {
  for (const end of [20, 30]) {
    const views = memoryViewStore(SCHEMAS);
    const [log, backup] = await copies(2, 7);
    if (log === undefined || backup === undefined) throw new Error("there are two copies");
    await appendNumbered(log, 8, 20);
    await foldTelling(log, views);
    await appendNumbered(backup, 108, 100 + end);
    assert.is((await foldTelling(backup, views)).length, NAMES.length);
    assert.is(await countIn(views), end);
    const sum = (await views.get(COUNTS, "all"))?.sum;
    assert.is(
      sum,
      28 + Array.from({ length: end - 7 }, (_, n) => 108 + n).reduce((a, b) => a + b),
      "of its records alone",
    );
  }
});

test("views that a rebuild left half folded before the log was restored are folded again from the restored log", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [log, backup] = await copies(2, 7);
  if (log === undefined || backup === undefined) throw new Error("there are two copies");
  await appendNumbered(log, 8, 20);
  let commits = 0;
  const crashing: ViewStore = {
    ...views,
    async commit(...args) {
      commits += 1;
      if (commits > 10) throw new Error("the process ends here");
      return views.commit(...args);
    },
  };
  const isCutOff = await rebuildViews(log, crashing, PROJECTIONS, { ...QUICK, pageMax: 2 }).then(
    () => false,
    () => true,
  );
  assert.ok(isCutOff);
  await appendNumbered(backup, 108, 130);
  await foldTelling(backup, views);
  assert.is(await countIn(views), 30);
  assert.is(
    (await views.get(COUNTS, "all"))?.sum,
    28 + Array.from({ length: 23 }, (_, n) => 108 + n).reduce((a, b) => a + b),
  );
});

test("a node that only reads does not take a position in the lost part of a log for one in the restored log", async () => {
  const views = memoryViewStore(SCHEMAS);
  const [log, backup] = await copies(2, 7);
  if (log === undefined || backup === undefined) throw new Error("there are two copies");
  await appendNumbered(log, 8, 20);
  await fold(log, views);
  const head = (await backup.head()) ?? "";
  const watched = watching(backup, views);
  assert.is(await watched.waitFor(NAMES, head, 0), false);
  await fold(backup, views);
  assert.is(await watched.waitFor(NAMES, head, 0), true);
});

const watching = (log: EventLog, views: ViewStore) =>
  watchedViews({
    log,
    views,
    names: NAMES,
    clock: { now: () => Date.parse("2026-01-01T00:00:30.000Z") },
    eventsBetween: (after, upTo) => Number(upTo) - Number(after ?? 0),
  });

test("a process that only watches views takes no position of another log for one of this log", async () => {
  const views = memoryViewStore(SCHEMAS);
  await fold(await logOf(20), views);
  const log = await logOf(4);
  const head = (await log.head()) ?? "";
  const watched = watching(log, views);
  assert.is(await watched.waitFor(NAMES, head, 0), false);
  const behind = { position: null, lag_events: 4, lag_s: 30 };
  assert.equal(
    await watched.progress(),
    NAMES.map((view) => ({ view, ...behind })),
  );
  await fold(log, views);
  assert.is(await watched.waitFor(NAMES, head, 0), true);
});

test("a process that only watches views measures their lag at most once a second", async () => {
  const views = memoryViewStore(SCHEMAS);
  const log = await logOf(4);
  await fold(log, views);
  let looks = 0;
  const counted: ViewStore = {
    ...views,
    origin(view) {
      looks += 1;
      return views.origin(view);
    },
  };
  const watched = watching(log, counted);
  const position = await log.head();
  const there = NAMES.map((view) => ({ view, position, lag_events: 0, lag_s: 0 }));
  for (let asked = 0; asked < 20; asked += 1)
    assert.equal(await Promise.all([watched.progress(), watched.progress()]), [there, there]);
  assert.ok(looks <= 2 * NAMES.length, `${looks} looks`);
});

test("a failing engine delays no one, and the last known progress is shown", async () => {
  const views = memoryViewStore(SCHEMAS);
  const log = await logOf(2);
  const failing: ViewStore = { ...views, origin: () => Promise.reject(new Error("no")) };
  assert.equal(
    await watching(log, failing).progress(),
    NAMES.map((view) => ({ view, position: null, lag_events: 0, lag_s: 0 })),
  );
});

test.run();
