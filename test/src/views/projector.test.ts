import { inspect } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { systemClock } from "../../../infra/clock.ts";
import { RecordDamaged } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { type Projection, perDocument } from "../../../projections/projection.ts";
import { Projector, type ProjectorFailure, type ProjectorOptions } from "../../../src/views/projector.ts";
import { inlineProjector } from "../../../src/views/view-progress.ts";
import { appendNumbered } from "../../support/numbered-log.ts";
import { until } from "../../support/until.ts";

/** Sums and lists what it has seen, so that an event folded twice, or not at all, shows. */
const seenBy = (name: string): Projection =>
  perDocument<{ readonly seen: readonly number[] }>(
    { name, fields: {}, indexes: [] },
    () => "all",
    (document, event) => ({ seen: [...(document?.seen ?? []), Number(event.data.n)] }),
  );

const one = seenBy("one.v1");
const two = seenBy("two.v1");
const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1);
const seen = async (views: ViewStore, view: string): Promise<unknown> => (await views.get(view, "all"))?.seen ?? [];

type World = { log: EventLog; views: ViewStore; failures: ProjectorFailure[] };
const world = (...projections: readonly Projection[]): World => ({
  log: memoryEventLog(),
  views: memoryViewStore(projections.map(({ schema }) => schema)),
  failures: [],
});

const QUICK: ProjectorOptions = { pollMs: 5, gatherMs: 0, retryMinMs: 1, retryMaxMs: 5 };

/** Runs a projector while `work` lasts, and stops it whatever happens. */
const running = async (
  { log, views, failures }: World,
  projections: readonly Projection[],
  options: ProjectorOptions,
  work: () => Promise<void>,
): Promise<void> => {
  const onError = (failure: ProjectorFailure) => failures.push(failure);
  const following = new Projector(log, views, projections, { ...QUICK, onError, ...options });
  await following.start();
  try {
    await work();
  } finally {
    await following.stop();
  }
};

const reaches = (views: ViewStore, names: readonly string[], position: Position): Promise<void> =>
  until(`${names} at ${position}`, async () => {
    const positions = await Promise.all(names.map((name) => views.position(name)));
    return positions.every((it) => it !== null && it >= position);
  });

const test = suite("projector");

test("what was in the log and what is appended later is folded once each, in order", async () => {
  const it = world(one, two);
  await appendNumbered(it.log, 1, 30);
  await running(it, [one, two], { pageMax: 7 }, async () => {
    const last = await appendNumbered(it.log, 31, 50);
    await reaches(it.views, ["one.v1", "two.v1"], last);
  });
  for (const view of ["one.v1", "two.v1"]) assert.equal(await seen(it.views, view), upTo(50));
  assert.equal(it.failures, []);
});

test("an append wakes it", async () => {
  const it = world(one);
  await running(it, [one], { pollMs: 60_000 }, async () => {
    await reaches(it.views, ["one.v1"], await appendNumbered(it.log, 1, 1));
    await reaches(it.views, ["one.v1"], await appendNumbered(it.log, 2, 3));
  });
  assert.equal(await seen(it.views, "one.v1"), upTo(3));
});

test("a read that waits for a position does not wait until records have gathered", async () => {
  // Without the hint, the second page would be folded after the whole time of gathering, which is 6 s.
  const { log, views } = world(one);
  const progress = await inlineProjector({ log, views, projections: [one], clock: systemClock, gatherMs: 300 });
  try {
    for (const from of [1, 31]) {
      const position = await appendNumbered(log, from, from + 29);
      assert.is(await progress.waitFor(["one.v1"], position, 3_000), true);
    }
  } finally {
    await progress.stop();
  }
});

test("a lost hint only delays it", async () => {
  const it = world(one);
  const deaf = { ...it, log: { ...it.log, onAppended: () => () => undefined } };
  await running(deaf, [one], {}, async () => reaches(it.views, ["one.v1"], await appendNumbered(it.log, 1, 3)));
  assert.equal(await seen(it.views, "one.v1"), upTo(3));
});

test("a projector continues where the one before it stopped", async () => {
  const it = world(one);
  for (const round of [0, 1, 2])
    await running(it, [one], {}, async () =>
      reaches(it.views, ["one.v1"], await appendNumbered(it.log, round * 10 + 1, round * 10 + 10)),
    );
  assert.equal(await seen(it.views, "one.v1"), upTo(30));
});

test("views at one position share one page", async () => {
  const it = world(one, two);
  const last = await appendNumbered(it.log, 1, 40);
  const read: (Position | null)[] = [];
  const log: EventLog = {
    ...it.log,
    async readAll(after, limit) {
      const page = await it.log.readAll(after, limit);
      if (page.length > 0) read.push(after);
      return page;
    },
  };
  await running({ ...it, log }, [one, two], { pageMax: 10 }, () => reaches(it.views, ["one.v1", "two.v1"], last));
  assert.is(read.length, 4);
});

test("a view whose projection throws stands before that event, is reported, and goes on once it can", async () => {
  let isBroken = true;
  const fragile: Projection = {
    ...two,
    apply(event, documents) {
      documents.put("half", { n: 1 });
      if (isBroken && event.data.n === 17) throw new TypeError("no such thing");
      two.apply(event, documents);
      documents.put("half", null);
    },
  };
  const it = world(one, fragile);
  const last = await appendNumbered(it.log, 1, 30);
  const [bad] = await it.log.readAll((await it.log.readAll(null, 16)).at(-1)?.position ?? null, 1);
  await running(it, [one, fragile], { pageMax: 10 }, async () => {
    await reaches(it.views, ["one.v1"], last);
    await until("it was tried again", () => it.failures.length > 3);
    assert.equal(await seen(it.views, "two.v1"), upTo(16));
    assert.is(await it.views.get("two.v1", "half"), null);
    for (const { view, position, error } of it.failures) {
      assert.is(view, "two.v1");
      assert.is(position, bad?.position);
      assert.match(String(error), "two.v1 failed at Counted of source-2");
    }
    isBroken = false;
    await reaches(it.views, ["two.v1"], last);
  });
  assert.equal(await seen(it.views, "two.v1"), upTo(30));
});

test("idsOf that throws is the same", async () => {
  let isBroken = true;
  const fragile: Projection = {
    ...one,
    idsOf(event) {
      if (isBroken && event.data.n === 3) throw new Error("no ids");
      return one.idsOf(event);
    },
  };
  const it = world(one);
  const last = await appendNumbered(it.log, 1, 5);
  await running(it, [fragile], {}, async () => {
    await until("it was reported", () => it.failures.length > 0);
    assert.equal(await seen(it.views, "one.v1"), upTo(2));
    isBroken = false;
    await reaches(it.views, ["one.v1"], last);
  });
  assert.equal(await seen(it.views, "one.v1"), upTo(5));
});

test("asking for a document that idsOf did not name is a bug, even when another event of the page named it", async () => {
  const greedy: Projection = {
    ...one,
    idsOf: (event) => [event.data.n === 2 ? "other" : "all"],
    apply(event, documents) {
      documents.put("all", { seen: [Number(event.data.n)], before: documents.get("all") });
    },
  };
  const it = world(one);
  await appendNumbered(it.log, 1, 2);
  await running(it, [greedy], {}, () => until("it was reported", () => it.failures.length > 0));
  assert.match(inspect(it.failures[0]?.error), "idsOf did not name");
});

test("a projector continues from the position to which another one has moved the view", async () => {
  const it = world(one);
  await appendNumbered(it.log, 1, 5);
  let interfered = false;
  const views: ViewStore = {
    ...it.views,
    async commit(view, after, position, { documents }) {
      if (!interfered) {
        interfered = true;
        const page = await it.log.readAll(after, 3);
        await it.views.commit(view, after, String(page.at(-1)?.position), {
          documents: new Map([["all", { seen: [1, 2, 3] }]]),
        });
      }
      return it.views.commit(view, after, position, { documents });
    },
  };
  await running({ ...it, views }, [one], {}, async () =>
    reaches(it.views, ["one.v1"], await appendNumbered(it.log, 6, 9)),
  );
  assert.equal(await seen(it.views, "one.v1"), upTo(9));
  assert.equal(it.failures, []);
});

test("two projectors over the same views fold nothing twice", async () => {
  const it = world(one, two);
  await appendNumbered(it.log, 1, 40);
  await running(it, [one, two], { pageMax: 3 }, () =>
    running(it, [one, two], { pageMax: 4 }, async () =>
      reaches(it.views, ["one.v1", "two.v1"], await appendNumbered(it.log, 41, 80)),
    ),
  );
  for (const view of ["one.v1", "two.v1"]) assert.equal(await seen(it.views, view), upTo(80));
});

test("a view that is dropped is folded again without a further event", async () => {
  const it = world(one, two);
  const last = await appendNumbered(it.log, 1, 20);
  await running(it, [one, two], { pageMax: 6 }, async () => {
    await reaches(it.views, ["one.v1", "two.v1"], last);
    await it.views.drop("one.v1", await it.log.identity());
    await reaches(it.views, ["one.v1"], last);
  });
  assert.equal(await seen(it.views, "one.v1"), upTo(20));
  assert.equal(await seen(it.views, "two.v1"), upTo(20));
});

test("a new view catches up while the others go on", async () => {
  const it = world(one, two);
  const before = await appendNumbered(it.log, 1, 400);
  await running(it, [one], {}, () => reaches(it.views, ["one.v1"], before));
  const last = await appendNumbered(it.log, 401, 410);
  const moves: string[] = [];
  const onProgress: ProjectorOptions["onProgress"] = (reached) => {
    for (const { view, position } of reached) moves.push(`${view} ${position}`);
  };
  await running(it, [one, two], { pageMax: 10, onProgress }, () => reaches(it.views, ["one.v1", "two.v1"], last));
  assert.ok(moves.indexOf(`one.v1 ${last}`) < moves.indexOf(`two.v1 ${last}`));
  assert.ok(moves.indexOf(`one.v1 ${last}`) < 6, "it did not wait for the other");
  assert.equal(await seen(it.views, "two.v1"), upTo(410));
});

test("a store that fails is tried again, and a commit with an unknown outcome is not made twice", async () => {
  const it = world(one);
  const faults = ["before", "after", "load", "before", "after"];
  const failing = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (faults[0] === what) {
      faults.shift();
      throw new Error(`storage failed: ${what}`);
    }
    return work();
  };
  const views: ViewStore = {
    ...it.views,
    load: (view, after, ids) => failing("load", () => it.views.load(view, after, ids)),
    async commit(view, after, position, { documents }) {
      const outcome = await failing("before", () => it.views.commit(view, after, position, { documents }));
      return failing("after", async () => outcome);
    },
  };
  const last = await appendNumbered(it.log, 1, 90);
  await running({ ...it, views }, [one], { pageMax: 9 }, () => reaches(it.views, ["one.v1"], last));
  assert.equal(await seen(it.views, "one.v1"), upTo(90));
  assert.equal(faults, []);
  assert.ok(it.failures.every(({ view, position }) => view === "one.v1" && position === null));
});

test("a log that fails is tried again", async () => {
  const it = world(one);
  let faults = 3;
  const log: EventLog = {
    ...it.log,
    readAll(after, limit) {
      if (faults > 0) {
        faults -= 1;
        return Promise.reject(new Error("the log is away"));
      }
      return it.log.readAll(after, limit);
    },
  };
  const last = await appendNumbered(it.log, 1, 5);
  await running({ ...it, log }, [one], {}, () => reaches(it.views, ["one.v1"], last));
  assert.equal(
    it.failures.map(({ view }) => view),
    [null, null, null],
  );
  const delays = it.failures.map(({ retryInMs }) => retryInMs);
  assert.equal(delays, [1, 2, 4], "later each time");
});

test("only what changed is written, also what came and went within a page, as a slower projector may still write it", async () => {
  const written: (readonly string[])[] = [];
  const absent: string[] = [];
  const it = world(one);
  const views: ViewStore = {
    ...it.views,
    commit(view, after, position, folded) {
      written.push([...folded.documents.keys()].sort());
      absent.push(...[...folded.documents.keys()].filter((id) => folded.absent?.(id)));
      return it.views.commit(view, after, position, folded);
    },
  };
  const fleeting: Projection = {
    schema: one.schema,
    idsOf: ({ data }) => [`d${Number(data.n) % 4}`],
    apply({ data }, documents) {
      const id = `d${Number(data.n) % 4}`;
      const document = documents.get(id);
      if (id === "d0") documents.put(id, document === null ? { n: 1 } : null);
      else if (id === "d1") documents.put(id, document);
      else if (id === "d2") documents.put("blind", { n: Number(data.n) });
      else documents.put(id, { n: Number(data.n) });
    },
  };
  const last = await appendNumbered(it.log, 1, 16);
  await running({ ...it, views }, [fleeting], { pageMax: 16 }, () => reaches(it.views, ["one.v1"], last));
  assert.equal(written, [["blind", "d0", "d3"]]);
  assert.equal(absent.sort(), ["blind", "d0", "d3"], "a store with transactions need not remove what came and went");
});

test("stopping finishes the page in hand", async () => {
  const it = world(one);
  await appendNumbered(it.log, 1, 3);
  let release: () => void = () => undefined;
  let isCommitting = false;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const views: ViewStore = {
    ...it.views,
    async commit(view, after, position, { documents }) {
      isCommitting = true;
      await gate;
      return it.views.commit(view, after, position, { documents });
    },
  };
  const following = new Projector(it.log, views, [one], QUICK);
  await following.start();
  await until("a commit is under way", () => isCommitting);
  const stopped = following.stop();
  release();
  await stopped;
  assert.equal(await seen(it.views, "one.v1"), upTo(3));
});

test("an empty log, no projections, and a log in which nothing is of interest", async () => {
  const it = world(one);
  await running(it, [one], {}, () => until("it has looked", async () => true));
  assert.is(await it.views.position("one.v1"), null);
  await running(it, [], {}, async () => undefined);
  const bored: Projection = { ...one, idsOf: () => [] };
  const last = await appendNumbered(it.log, 1, 5);
  await running(it, [bored], {}, () => reaches(it.views, ["one.v1"], last));
  assert.is(await it.views.count("one.v1", [], 1), 0);
});

test("a document that was used lately is not read again", async () => {
  const it = world(one);
  let loads = 0;
  const views: ViewStore = {
    ...it.views,
    load(view, after, ids) {
      loads += 1;
      return it.views.load(view, after, ids);
    },
  };
  const last = await appendNumbered(it.log, 1, 60);
  await running({ ...it, views }, [one], { pageMax: 5 }, () => reaches(it.views, ["one.v1"], last));
  assert.is(loads, 1);
  assert.equal(await seen(it.views, "one.v1"), upTo(60));
});

test("views stop before a damaged record, which is reported by its name, and go on once it is restored", async () => {
  const it = world(one);
  const last = await appendNumbered(it.log, 1, 30);
  const damaged = (await it.log.readAll(null, 30))[20];
  assert.ok(damaged);
  let isRestored = false;
  const readAll: EventLog["readAll"] = async (...asked) => {
    const page = await it.log.readAll(...asked);
    if (!isRestored && page.some(({ id }) => id === damaged.id)) throw new RecordDamaged(damaged);
    return page;
  };
  await running({ ...it, log: { ...it.log, readAll } }, [one], {}, async () => {
    await until("it was reported", () => it.failures.length > 0);
    assert.equal(await seen(it.views, "one.v1"), upTo(20));
    const [failure] = it.failures;
    assert.is(failure?.view, null);
    assert.match(String(failure?.error), `the log is damaged: ${damaged.stream}, revision ${damaged.revision}, `);
    isRestored = true;
    await reaches(it.views, ["one.v1"], last);
  });
  assert.equal(await seen(it.views, "one.v1"), upTo(30));
});

test.run();
