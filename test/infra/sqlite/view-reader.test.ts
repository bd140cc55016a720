import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewSchema, ViewStore } from "../../../domain/ports/view-store.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteViewReader } from "../../../infra/sqlite/view-reader.ts";
import { sqliteViewStore } from "../../../infra/sqlite/view-store.ts";
import { ViewsUnavailable } from "../../../infra/view-errors.ts";
import { viewStoreContract } from "../../contract/view-store.ts";
import { until } from "../../support/until.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", at: "number" },
  indexes: [["account", "at"]],
};

type Context = { directory: string; path: string };
const test = suite<Context>("sqlite view reader");

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "views-"));
  context.path = join(context.directory, "views.db");
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** In place of the table a query that takes a second or so: nothing but time ends it. */
const makeSlow = (path: string): void => {
  const database = new DatabaseSync(path);
  database.exec(`ALTER TABLE "things.v1" RENAME TO kept; CREATE VIEW "things.v1" AS
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000000)
    SELECT id, document, account, at FROM kept UNION ALL SELECT i, '{}', 'nobody', NULL FROM n WHERE i < 0`);
  database.close();
};

const makeQuick = (path: string): void => {
  const database = new DatabaseSync(path);
  database.exec('DROP VIEW "things.v1"; ALTER TABLE kept RENAME TO "things.v1"');
  database.close();
};

const written = async (path: string): Promise<void> => {
  const views = sqliteViewStore({ path, schemas: [schema] });
  await views.commit("things.v1", null, "1", { documents: new Map([["a", { account: "x", at: 1 }]]) });
  await views.close();
};

test("the reader creates a missing file and sees later commits", async ({ path }) => {
  const reader = await sqliteViewReader({ path, schemas: [schema] });
  assert.is(await reader.position("things.v1"), null);
  await written(path);
  assert.is(await reader.position("things.v1"), "1");
  assert.equal(await reader.get("things.v1", "a"), { account: "x", at: 1 });
  await reader.close();
  await reader.close();
  assert.instance(await failure(reader.get("things.v1", "a")), ViewsUnavailable);
});

test("a file that cannot be used is refused when it is opened", async ({ path }) => {
  await written(path);
  const changed = { ...schema, fields: { ...schema.fields, state: "text" } } as const;
  const error = await failure(sqliteViewReader({ path, schemas: [changed] }));
  assert.match(String(error), "other fields or indexes");
  assert.match(String(await failure(sqliteViewReader({ path: join(path, "no"), schemas: [schema] }))), "open");
});

test("writes, and queries of undeclared views, are bugs, not outages", async ({ path }) => {
  const reader = await sqliteViewReader({ path, schemas: [schema] });
  const sort = { field: "unknown", order: "asc" } as const;
  const bugs = [
    reader.load("things.v1", null, ["a"]),
    reader.commit("things.v1", null, "1", { documents: new Map() }),
    reader.drop("things.v1", "a log"),
    reader.get("others.v1", "a"),
    reader.page("things.v1", { where: [], sort, limit: 1 }),
  ];
  for (const error of await Promise.all(bugs.map(failure))) {
    assert.instance(error, Error);
    assert.not.instance(error, ViewsUnavailable);
  }
  await reader.close();
});

test("an engine that fails is an outage", async ({ path }) => {
  await written(path);
  const reader = await sqliteViewReader({ path, schemas: [schema] });
  const database = new DatabaseSync(path);
  database.exec('DROP TABLE "things.v1"');
  database.close();
  assert.instance(await failure(reader.get("things.v1", "a")), ViewsUnavailable);
  assert.is(await reader.position("things.v1"), "1");
  await reader.close();
});

test("more queries than may wait are refused at once", async ({ path }) => {
  const reader = await sqliteViewReader({ path, schemas: [schema], pendingMax: 3 });
  const asked = await Promise.all(Array.from({ length: 5 }, () => failure(reader.position("things.v1"))));
  assert.equal(
    asked.map((error) => error instanceof ViewsUnavailable),
    [false, false, false, true, true],
  );
  assert.is(await failure(reader.position("things.v1")), null);
  await reader.close();
});

test("a query that takes too long is refused, and the others are answered by another thread", async ({ path }) => {
  await written(path);
  const threads: Worker[] = [];
  const onThread = (worker: Worker) => threads.push(worker);
  const reader = await sqliteViewReader({ path, schemas: [schema], queryMs: 400, onThread });
  makeSlow(path);
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  assert.instance(await failure(reader.count("things.v1", [], 9)), ViewsUnavailable);
  clearInterval(turning);
  assert.ok(turns > 2, "the event loop went on");
  makeQuick(path);
  // On a busy machine a thread takes longer to begin than a query may take: then it is asked again.
  await until("it is counted", async () => (await reader.count("things.v1", [], 9).catch(() => null)) === 1);
  assert.ok(threads.length > 1);
  await reader.close();
});

test("when its thread dies the waiting queries are refused and a new one answers the next", async ({ path }) => {
  await written(path);
  const threads: Worker[] = [];
  const reader = await sqliteViewReader({ path, schemas: [schema], onThread: (worker) => threads.push(worker) });
  const waiting = Array.from({ length: 20 }, () => failure(reader.get("things.v1", "a")));
  // No message that it knows: it throws, and ends between two statements.
  threads[0]?.postMessage(null);
  for (const error of await Promise.all(waiting)) assert.ok(error === null || error instanceof ViewsUnavailable);
  await until("another thread is there", () => threads.length === 2);
  assert.equal(await reader.get("things.v1", "a"), { account: "x", at: 1 });
  await reader.close();
});

test.run();

/** Writes through a store, reads through the thread. */
viewStoreContract("sqlite, read by a thread", async (schemas): Promise<ViewStore> => {
  const directory = mkdtempSync(join(tmpdir(), "views-"));
  const path = join(directory, "views.db");
  const writer = sqliteViewStore({ path, schemas });
  const reader = await sqliteViewReader({ path, schemas });
  return {
    ...reader,
    load: writer.load,
    commit: writer.commit,
    drop: writer.drop,
    async close() {
      await reader.close();
      await writer.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
