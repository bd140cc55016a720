import * as fc from "fast-check";
import { type Document as BsonDocument, type Db, MongoClient } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import type { Condition, Document, ViewQuery, ViewSchema, ViewStore } from "../../../domain/ports/view-store.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { mongoViewStore } from "../../../infra/mongodb/view-store.ts";
import { isOtherFormat } from "../../../infra/other-format.ts";
import { ViewsUnavailable } from "../../../infra/view-errors.ts";
import { PROJECTIONS } from "../../../projections/all.ts";
import { Projector, type ProjectorFailure } from "../../../src/views/projector.ts";
import type { ViewPosition } from "../../../src/views/view-positions.ts";
import { BY_CODE_POINT, type OpenViewStore, viewStoreContract } from "../../contract/view-store.ts";
import { broadHistory } from "../../support/broad-history.ts";
import { cutConnections } from "../../support/cut-connections.ts";
import { appendTo } from "../../support/history.ts";
import { type FreshDatabase, freshDatabase, mongodbServer, sortsByCodePoint } from "../../support/mongodb.ts";
import { folded } from "../../support/projected.ts";
import { printSkipped } from "../../support/skipped.ts";
import { until } from "../../support/until.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", at: "number" },
  indexes: [["account", "at"]],
};

type Context = FreshDatabase;
const test = suite<Context>("mongodb view store");
const server = mongodbServer("the view store in MongoDB");

test.before.each((context) => {
  Object.assign(context, freshDatabase(server ?? ""));
});
test.after.each(({ drop }) => drop());

const rejection = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work;
  } catch (error) {
    return error as Error; // Every error here is made by the store.
  }
  throw new Error("nothing was thrown");
};

/** As an analyst would look. */
const looking = async <T>(url: string, look: (db: ReturnType<MongoClient["db"]>) => Promise<T>): Promise<T> => {
  const client = new MongoClient(url);
  try {
    return await look(client.db());
  } finally {
    await client.close();
  }
};
const raw = (url: string): Promise<readonly BsonDocument[]> =>
  looking(url, (db) => db.collection("things.v1").find().sort({ _id: 1 }).toArray());

test("each view is a collection with native fields, positions and removed documents", async ({ url }) => {
  const views = await mongoViewStore({ url, schemas: [schema] });
  const documents = new Map([
    ["a", { account: "x", at: 1, nested: { list: [1, "two"] } }],
    ["b", { account: "x", at: 2 }],
  ]);
  await views.commit("things.v1", null, "1", { documents });
  await views.commit("things.v1", "1", "2", { documents: new Map([["b", null]]) });
  const [a, b] = await raw(url);
  assert.equal(a, { _id: "a", _position: "000000.1", account: "x", at: 1, nested: { list: [1, "two"] } });
  assert.equal(Object.keys(b ?? {}).sort(), ["_id", "_position", "_removed"]);
  assert.instance(b?._removed, Date);
  await views.close();
});

test("two nodes at once create the declared indexes, with the id last, and the one for removed documents", async ({
  url,
}) => {
  const stores = await Promise.all([1, 2, 3].map(() => mongoViewStore({ url, schemas: [schema] })));
  const indexes = await looking(url, (db) => db.collection("things.v1").indexes());
  const keys = indexes.map(({ key }) =>
    Object.entries(key)
      .map(([field, direction]) => `${field} ${direction}`)
      .join(),
  );
  assert.equal(keys.sort(), ["_id 1", "_removed 1", "account 1,at 1,_id 1"]);
  for (const views of stores) await views.close();
});

test("committed documents survive a restart, and a database of another format is refused", async ({ url }) => {
  const first = await mongoViewStore({ url, schemas: [schema] });
  await first.commit("things.v1", null, "1", { documents: new Map([["a", { account: "x", at: 1 }]]) });
  await first.close();
  const second = await mongoViewStore({ url, schemas: [schema] });
  assert.is(await second.position("things.v1"), "1");
  assert.equal(await second.get("things.v1", "a"), { account: "x", at: 1 });
  await second.close();
  await second.close();
  assert.instance(await rejection(second.get("things.v1", "a")), ViewsUnavailable);

  const refuses = async (found: string) => {
    const error = await rejection(mongoViewStore({ url, schemas: [schema] }));
    assert.ok(isOtherFormat(error));
    assert.match(
      error.message,
      `${found}, and this version reads format 2 alone: run the version that wrote it, or drop it`,
    );
  };
  const formats = (db: Db) => db.collection<{ _id: string }>("checkpoints");
  for (const version of [1, 99]) {
    await looking(url, (db) => formats(db).updateOne({ _id: "format" }, { $set: { version } }));
    await refuses(`has format ${version}`);
  }
  await looking(url, (db) => formats(db).deleteOne({ _id: "format" }));
  await refuses("names no format");
  await looking(url, (db) => formats(db).deleteMany({}));
  await refuses("names no format");
});

test("an interrupted commit continues from each document's own position", async ({ url }) => {
  const views = await mongoViewStore({ url, schemas: [schema] });
  await views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
  // As left by another projector that wrote two of its documents, one of them removed, and ended.
  const position = "000000.5";
  await looking(url, async (db) => {
    const things = db.collection<{ _id: string }>("things.v1");
    await things.replaceOne({ _id: "a" }, { _position: position, at: 5 });
    await things.insertOne({ _id: "b", _position: position, _removed: new Date() } as { _id: string });
  });
  assert.is(await views.commit("things.v1", "1", "4", { documents: new Map([["a", { at: 4 }]]) }), "stale");
  assert.is(await views.position("things.v1"), "1");
  assert.equal(
    await views.load("things.v1", "1", ["a", "b", "c"]),
    new Map([
      ["a", { document: { at: 5 }, position: "5" }],
      ["b", { document: null, position: "5" }],
      ["c", { document: null, position: null }],
    ]),
  );
  assert.is(await views.commit("things.v1", "1", "4", { documents: new Map([["c", { at: 4 }]]) }), "committed");
  assert.is(await views.commit("things.v1", "4", "6", { documents: new Map([["a", { at: 6 }]]) }), "committed");
  assert.equal(await views.get("things.v1", "a"), { at: 6 });
  await views.close();
});

test("each of several commits sent together has its own outcome", async ({ url }) => {
  const names = ["one.v1", "two.v1", "three.v1"];
  const schemas = names.map((name) => ({ ...schema, name }));
  const [ours, theirs] = await Promise.all([mongoViewStore({ url, schemas }), mongoViewStore({ url, schemas })]);
  const commitAll = (after: Position | null, upTo: Position) =>
    Promise.all(names.map((name) => ours.commit(name, after, upTo, { documents: new Map() })));
  const positions = () => Promise.all(names.map((name) => ours.position(name)));
  for (const [after, upTo, other] of [
    [null, "2", "1"],
    ["2", "4", "3"],
  ] as const) {
    assert.is(await theirs.commit("two.v1", after, other, { documents: new Map() }), "committed");
    assert.equal(await commitAll(after, upTo), ["committed", "stale", "committed"]);
    assert.equal(await positions(), [upTo, other, upTo]);
    assert.equal(await commitAll(after, upTo), ["stale", "stale", "stale"]);
    assert.is(await theirs.commit("two.v1", other, upTo, { documents: new Map() }), "committed");
  }
  await theirs.drop("two.v1", "a log");
  assert.equal(await commitAll("4", "5"), ["committed", "stale", "committed"]);
  assert.equal(await positions(), ["5", null, "5"]);
  assert.is(await ours.commit("two.v1", null, "5", { documents: new Map() }), "committed");
  for (const views of [ours, theirs]) await views.close();
});

test("several thousand documents are one commit, one look-up and one drop", async ({ url }) => {
  const views = await mongoViewStore({ url, schemas: [schema] });
  const ids = Array.from({ length: 2_100 }, (_, n) => `d${n}`);
  await views.commit("things.v1", null, "1", { documents: new Map(ids.map((id, at) => [id, { account: "x", at }])) });
  assert.is((await views.getMany("things.v1", ids)).size, ids.length);
  const all = { where: [], sort: { field: "at", order: "asc" }, limit: 5_000 } as const;
  assert.is((await views.page("things.v1", all)).length, ids.length);
  await views.drop("things.v1", "a log");
  assert.equal(await raw(url), []);
  await views.close();
});

const SCHEMAS = PROJECTIONS.map((projection) => projection.schema);
const QUICK = { pollMs: 20, gatherMs: 0, retryMinMs: 1, retryMaxMs: 50 };
/** Several seconds on a busy machine. */
const FOLD_MS = 60_000;

const following = (log: EventLog, stores: readonly ViewStore[], onError: (failure: ProjectorFailure) => void) =>
  stores.map((views, n) => new Projector(log, views, PROJECTIONS, { ...QUICK, pageMax: 3 + 2 * n, onError }));

const isAtEnd = (projectors: readonly Projector[], head: Position | null) => (): boolean =>
  projectors.every((it) => it.positions().every(({ position }) => position === head));

/** Every view holds what folding the log event by event gives, and nothing else. */
const holdsTheFold = async (views: ViewStore, log: EventLog): Promise<void> => {
  const records = await log.readAll(null, 10_000, "records");
  for (const projection of PROJECTIONS) {
    const { name } = projection.schema;
    const wanted = folded(projection, records, 100).all();
    assert.equal(Object.fromEntries(await views.getMany(name, Object.keys(wanted))), wanted, name);
    assert.is(await views.count(name, [], 10_000), Object.keys(wanted).length, name);
  }
};

test("two projectors at once fold every view as one alone does, and again after a drop", async ({ url }) => {
  const log = memoryEventLog();
  await appendTo(log, broadHistory().events);
  const head = await log.head();
  const stores = await Promise.all([1, 2].map(() => mongoViewStore({ url, schemas: SCHEMAS })));
  const failures: ProjectorFailure[] = [];
  const projectors = following(log, stores, (failure) => failures.push(failure));
  await Promise.all(projectors.map((it) => it.start()));
  await until("both are at the log's end", isAtEnd(projectors, head), FOLD_MS);
  await stores[0]?.drop("audit.v1", await log.identity());
  await until("the drop is seen", () => !isAtEnd(projectors, head)(), FOLD_MS);
  await until("both are at the log's end again", isAtEnd(projectors, head), FOLD_MS);
  for (const it of projectors) await it.stop();
  for (const views of stores) await holdsTheFold(views, log);
  assert.equal(failures, []);
  for (const views of stores) await views.close();
});

/** By the names of their fields. */
const indexesIn = (url: string, view: string): Promise<readonly string[]> =>
  looking(url, async (db) => {
    const indexes = await db.collection(view).indexes();
    return indexes.map(({ key }) => Object.keys(key).join()).sort();
  });

test("a view whose collection was dropped is folded again at the start, even after a later write", async ({ url }) => {
  const log = memoryEventLog();
  await appendTo(log, broadHistory().events);
  const dropped: string[] = [];
  const fold = async (views: ViewStore): Promise<void> => {
    const onDropped = (names: readonly string[]) => dropped.push(...names);
    const following = new Projector(log, views, PROJECTIONS, { ...QUICK, onDropped });
    await following.start();
    await until("all is folded", isAtEnd([following], await log.head()), FOLD_MS);
    await following.stop();
    await holdsTheFold(views, log);
    await views.close();
  };
  await fold(await mongoViewStore({ url, schemas: SCHEMAS }));
  const indexes = await indexesIn(url, "events.v3");
  await looking(url, async (db) => {
    await db.collection("events.v3").drop();
    await db.collection("audit.v1").drop();
    await db.collection("audit.v1").insertOne({ _position: "000001.1" });
    await db.collection("audit.v1").deleteMany({});
  });
  // Several nodes look at once, and one of them does not fold.
  const [ours, theirs] = await Promise.all([1, 2].map(() => mongoViewStore({ url, schemas: SCHEMAS })));
  await theirs?.close();
  if (ours !== undefined) await fold(ours);
  assert.equal(dropped.sort(), ["audit.v1", "events.v3"]);
  assert.equal(await indexesIn(url, "events.v3"), indexes);
});

/** The log, and a way to hold those who read it: a projector asks its views nothing meanwhile. */
const holdable = (log: EventLog) => {
  let isHeld = false;
  let waiting: (() => void)[] = [];
  return {
    log: {
      ...log,
      async readAll(...asked: Parameters<EventLog["readAll"]>) {
        if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
        return log.readAll(...asked);
      },
    },
    async whileHeld(work: () => Promise<unknown>): Promise<void> {
      isHeld = true;
      await until("its reader waits", () => waiting.length > 0);
      await work();
      isHeld = false;
      for (const goOn of waiting) goOn();
      waiting = [];
    },
  };
};

test("a database that is dropped while it is followed is filled again, with its indexes", async ({ url }) => {
  const { log, whileHeld } = holdable(memoryEventLog());
  await appendTo(log, broadHistory().events);
  const views = await mongoViewStore({ url, schemas: SCHEMAS });
  const moved = new Set<string>();
  const onProgress = (reached: readonly ViewPosition[]): void => {
    for (const { view } of reached) moved.add(view);
  };
  const following = new Projector(log, views, PROJECTIONS, { ...QUICK, onProgress });
  await following.start();
  await until("all is folded", isAtEnd([following], await log.head()), FOLD_MS);
  const indexes = await indexesIn(url, "events.v3");
  // Held, as the server that stands in for MongoDB loses for ever what is made or asked for in the middle of a drop.
  await whileHeld(() => looking(url, (db) => db.dropDatabase()));
  moved.clear();
  await until("all is folded again", () => moved.size === SCHEMAS.length, FOLD_MS);
  await until("it is at the log's end again", isAtEnd([following], await log.head()), FOLD_MS);
  await following.stop();
  await holdsTheFold(views, log);
  assert.ok(indexes.length > 2);
  assert.equal(await indexesIn(url, "events.v3"), indexes);
  await views.close();
});

test("an interrupted drop is distinguished from a finished one", async ({ url }) => {
  const views = await mongoViewStore({ url, schemas: [schema] });
  await views.drop("things.v1", "a log");
  await looking(url, (db) =>
    db.collection<{ _id: string }>("checkpoints").updateOne({ _id: "things.v1" }, { $set: { emptying: true } }),
  );
  assert.equal(await views.origin("things.v1"), { log: "a log", isEmptied: false, last: null });
  await views.drop("things.v1", "a log");
  assert.equal(await views.origin("things.v1"), { log: "a log", isEmptied: true, last: null });
  await views.close();
});

test("connections that break again and again while two projectors fold lose nothing and double nothing", async ({
  url,
}) => {
  const CUTS = 12;
  const log = memoryEventLog();
  const { events } = broadHistory();
  await appendTo(log, events);
  const { hostname, port } = new URL(url);
  const line = await cutConnections(hostname, Number(port));
  const through = new URL(url);
  through.host = `127.0.0.1:${line.port}`;
  const stores = await Promise.all([1, 2].map(() => mongoViewStore({ url: through.href, schemas: SCHEMAS })));
  const failures: ProjectorFailure[] = [];
  const projectors = following(log, stores, (failure) => failures.push(failure));
  await Promise.all(projectors.map((it) => it.start()));
  for (let cut = 0; cut < CUTS; cut += 1) {
    const seen = failures.length;
    const moved = JSON.stringify(projectors.map((it) => it.positions()));
    const isFurther = () => JSON.stringify(projectors.map((it) => it.positions())) !== moved;
    line.cut();
    await until("it fails or goes on", () => failures.length > seen || isFurther(), FOLD_MS);
    // So that there is always something to be folded.
    await log.append(
      `account-acc_${cut}`,
      "any",
      events.slice(0, 1).map((it) => ({ ...it, id: `cut-${cut}` })),
    );
  }
  await until("both are at the log's end", isAtEnd(projectors, await log.head()), FOLD_MS);
  for (const it of projectors) await it.stop();
  for (const { error } of failures) assert.instance(error, ViewsUnavailable);
  const calm = await mongoViewStore({ url, schemas: SCHEMAS });
  await holdsTheFold(calm, log);
  for (const views of [...stores, calm]) await views.close();
  await line.stop();
});

test("when all connections break at once during many queries, later queries are answered, each time", async ({
  url,
}) => {
  const { hostname, port } = new URL(url);
  const line = await cutConnections(hostname, Number(port));
  const through = new URL(url);
  through.host = `127.0.0.1:${line.port}`;
  const views = await mongoViewStore({ url: through.href, schemas: [schema] });
  let isOver = false;
  const ask = async (_: unknown, n: number): Promise<void> => {
    while (!isOver) {
      await views.get("things.v1", "a").catch((error) => assert.instance(error, ViewsUnavailable));
      await new Promise((resolve) => setTimeout(resolve, n % 5));
    }
  };
  const asking = Promise.all(Array.from({ length: 20 }, ask));
  const isAnswered = async (): Promise<boolean> => (await views.get("things.v1", "a").catch(() => "not")) === null;
  for (let cut = 0; cut < 5; cut += 1) {
    // The driver looks for a server when it loses one, but not more often than twice a second.
    await new Promise((resolve) => setTimeout(resolve, 600));
    line.cut();
    await until("it is answered", isAnswered, FOLD_MS);
  }
  isOver = true;
  await asking;
  await views.close();
  await line.stop();
});

// Where the server that stands in for MongoDB does not sort by code point, without what shows it.
const isByCodePoint = server !== null && (await sortsByCodePoint(server));
const texts = ["a", "b", "é", "\uffee", "a\0", "\ud800", "", ...(isByCodePoint ? ["😀"] : [])];
const text = fc.constantFrom(...texts);
const value = fc.oneof(text, fc.integer({ min: -2, max: 4 }), fc.constantFrom(null, true, 0.5, ["a"], [1], { a: 1 }));
const document: fc.Arbitrary<Document> = fc.record({ account: value, at: value }, { requiredKeys: [] });
const condition: fc.Arbitrary<Condition> = fc.record({
  field: fc.constantFrom("account", "at"),
  is: fc.constantFrom("=", "<", "<=", ">", ">="),
  value: fc.oneof(text, fc.integer({ min: -2, max: 4 })),
});
const query: fc.Arbitrary<ViewQuery> = fc
  .record({
    where: fc.array(condition, { maxLength: 3 }),
    sort: fc.record({ field: fc.constantFrom("account", "at"), order: fc.constantFrom("asc", "desc") }),
    after: fc.option(fc.record({ value: condition.map((it) => it.value), id: text }), { nil: undefined }),
    limit: fc.integer({ min: 0, max: 8 }),
  })
  .map(({ after, ...rest }) => (after === undefined ? rest : { ...rest, after }));

test("any query finds the same as the store in memory", async ({ url }) => {
  const views = await mongoViewStore({ url, schemas: [schema] });
  const run = async (documents: readonly Document[], queries: readonly ViewQuery[]) => {
    const memory = memoryViewStore([schema]);
    await views.drop("things.v1", "a log");
    const named = new Map(documents.map((it, i) => [`d${i}`, it]));
    for (const store of [views, memory]) await store.commit("things.v1", null, "1", { documents: named });
    for (const it of queries) {
      assert.equal(await views.page("things.v1", it), await memory.page("things.v1", it), JSON.stringify(it));
      assert.is(await views.count("things.v1", it.where, 5), await memory.count("things.v1", it.where, 5));
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(document, { maxLength: 12 }), fc.array(query, { minLength: 1, maxLength: 8 }), run),
    { numRuns: 40 },
  );
  await views.close();
});

const early = suite("mongodb view store, before a server is asked");

early("names that are no plain identifiers are refused", async () => {
  const url = "mongodb://127.0.0.1:1/countersign";
  const bad: readonly Partial<ViewSchema>[] = [
    { name: "checkpoints" },
    { name: "system.views" },
    { fields: { $where: "text" }, indexes: [] },
    { fields: { _id: "text" }, indexes: [] },
    { fields: { "a.b": "text" }, indexes: [] },
    { indexes: [["unknown"]] },
  ];
  for (const part of bad)
    assert.instance(await rejection(mongoViewStore({ url, schemas: [{ ...schema, ...part }] })), TypeError);
  assert.instance(await rejection(mongoViewStore({ url, schemas: [schema, schema] })), TypeError);
});

early.run();

const inDatabaseOfItsOwn =
  (serverUrl: string): OpenViewStore =>
  async (schemas) => {
    const { url, drop } = freshDatabase(serverUrl);
    const views = await mongoViewStore({ url, schemas });
    return {
      ...views,
      async close() {
        await views.close();
        await drop();
      },
    };
  };

if (server !== null) {
  test.run();
  if (!isByCodePoint) printSkipped("text by code point", "this server, unlike MongoDB, sorts by UTF-16 units");
  viewStoreContract("mongodb", inDatabaseOfItsOwn(server), isByCodePoint ? [] : [BY_CODE_POINT]);
}
