import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Condition, Document, ViewQuery, ViewSchema } from "../../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { isOtherFormat } from "../../../infra/other-format.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteViewStore } from "../../../infra/sqlite/view-store.ts";
import { removeViews } from "../../../infra/sqlite/view-tables.ts";
import { ViewsUnavailable } from "../../../infra/view-errors.ts";
import { viewStoreContract } from "../../contract/view-store.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", at: "number" },
  indexes: [["account", "at"]],
};

type Context = { directory: string; path: string };
const test = suite<Context>("sqlite view store");

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "views-"));
  context.path = join(context.directory, "views.db");
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const thrown = async (work: () => unknown): Promise<Error> => {
  try {
    await work();
  } catch (error) {
    return error as Error; // Every error here is made by the store or by SQLite.
  }
  throw new Error("nothing was thrown");
};

test("only the owner can read the files, even in a folder that all can read", async ({ directory, path }) => {
  chmodSync(directory, 0o755);
  const store = sqliteViewStore({ path, schemas: [schema] });
  await store.commit("things.v1", null, "1", { documents: new Map([["a", { account: "x", at: 1 }]]) });
  const names = readdirSync(directory);
  assert.ok(names.length > 1);
  for (const name of names) assert.is((statSync(join(directory, name)).mode & 0o777).toString(8), "600", name);
  await store.close();
});

test("documents and checkpoint survive a restart", async ({ path }) => {
  const first = sqliteViewStore({ path, schemas: [schema] });
  await first.commit("things.v1", null, "1", { documents: new Map([["a", { account: "x", at: 1 }]]) });
  await first.close();
  const second = sqliteViewStore({ path, schemas: [schema] });
  assert.is(await second.position("things.v1"), "1");
  assert.equal(await second.get("things.v1", "a"), { account: "x", at: 1 });
  await second.close();
  await second.close();
});

test("two connections compare the checkpoint in the transaction that writes", async ({ path }) => {
  const one = sqliteViewStore({ path, schemas: [schema] });
  const two = sqliteViewStore({ path, schemas: [schema] });
  assert.is(await one.commit("things.v1", null, "1", { documents: new Map([["a", { by: "one" }]]) }), "committed");
  assert.is(await two.commit("things.v1", null, "1", { documents: new Map([["a", { by: "two" }]]) }), "stale");
  assert.equal(await two.get("things.v1", "a"), { by: "one" });
  await one.close();
  await two.close();
});

test("a file of another format is refused in a sentence that says what to do", async ({ path }) => {
  await sqliteViewStore({ path, schemas: [schema] }).close();
  for (const [version, found] of [
    [99, "has format 99"],
    [0, "names no format"],
  ] as const) {
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    const error = await thrown(() => sqliteViewStore({ path, schemas: [schema] }));
    assert.ok(isOtherFormat(error));
    assert.match(error.message, `views.db ${found}, and this version reads format 4 alone: `);
    assert.match(error.message, "delete it with its -wal and -shm files, as the views are folded again from the log");
  }
});

test("views of an older format are emptied, to be folded again in the present one", async ({ path }) => {
  const old = new DatabaseSync(path);
  old.exec(`CREATE TABLE views (name TEXT PRIMARY KEY NOT NULL, schema TEXT NOT NULL, position TEXT);
    CREATE TABLE "things.v1" (id TEXT PRIMARY KEY NOT NULL, document TEXT NOT NULL);
    INSERT INTO views VALUES ('things.v1', '{}', '9'); INSERT INTO "things.v1" VALUES ('a', '{}');
    PRAGMA user_version = 2`);
  old.close();
  const views = sqliteViewStore({ path, schemas: [schema] });
  assert.is(await views.position("things.v1"), null);
  assert.is(await views.origin("things.v1"), null);
  assert.is(await views.get("things.v1", "a"), null);
  await views.commit("things.v1", null, "1", { documents: new Map([["b", { account: "x", at: 1 }]]) });
  await views.close();
  const again = sqliteViewStore({ path, schemas: [schema] });
  assert.equal(await again.get("things.v1", "b"), { account: "x", at: 1 }, "only once");
  await again.close();
});

test("a commit that failed leaves no number of a word that it gave", async ({ path }) => {
  const packed: ViewSchema = { ...schema, packing: { members: { account: "word" } } };
  const views = sqliteViewStore({ path, schemas: [packed] });
  const bad = new Map<string, Document>([
    ["a", { account: "failed", at: 1 }],
    ["b".repeat(600), {}],
  ]);
  assert.instance(await thrown(() => views.commit("things.v1", null, "1", { documents: bad })), TypeError);
  assert.is(await views.position("things.v1"), null);
  const one = new Map([["a", { account: "one", at: 1 }]]);
  assert.is(await views.commit("things.v1", null, "1", { documents: one }), "committed");
  const two = new Map([["b", { account: "failed", at: 1 }]]);
  assert.is(await views.commit("things.v1", "1", "2", { documents: two }), "committed");
  assert.equal(await views.get("things.v1", "a"), { account: "one", at: 1 });
  assert.equal(await views.get("things.v1", "b"), { account: "failed", at: 1 });
  await views.close();
});

/** A frame of the WAL that ends a transaction tells the size of the database (https://sqlite.org/fileformat2.html, 4.1). */
const transactionsIn = (path: string): number => {
  const wal = readFileSync(`${path}-wal`);
  const frame = 24 + wal.readUInt32BE(8);
  let transactions = 0;
  for (let at = 32; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) !== 0) transactions += 1;
  return transactions;
};

test("views that commit at the same time share a transaction, and only one of them may be stale", async ({ path }) => {
  const views = sqliteViewStore({ path, schemas: [schema, { ...schema, name: "others.v1" }] });
  const before = transactionsIn(path);
  const documents = new Map([["a", { at: 1 }]]);
  const outcomes = await Promise.all([
    views.commit("things.v1", null, "1", { documents }),
    views.commit("others.v1", "0", "1", { documents }),
  ]);
  assert.equal(outcomes, ["committed", "stale"]);
  assert.equal([await views.position("things.v1"), await views.position("others.v1")], ["1", null]);
  assert.is(await views.get("others.v1", "a"), null);
  await Promise.all([
    views.commit("things.v1", "1", "2", { documents }),
    views.commit("others.v1", null, "2", { documents }),
  ]);
  assert.is(transactionsIn(path) - before, 2);
  await views.close();
});

test("a view whose commit fails takes none of the views with it that commit at the same time", async ({ path }) => {
  const views = sqliteViewStore({ path, schemas: [schema, { ...schema, name: "others.v1" }] });
  const refused = thrown(() =>
    views.commit("things.v1", null, "1", {
      documents: new Map([
        ["a", { at: 1 }],
        ["b".repeat(600), { at: 1 }],
      ]),
    }),
  );
  const other = views.commit("others.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
  assert.instance(await refused, TypeError);
  assert.is(await other, "committed");
  assert.equal([await views.position("things.v1"), await views.get("things.v1", "a")], [null, null]);
  assert.equal([await views.position("others.v1"), await views.get("others.v1", "a")], ["1", { at: 1 }]);
  await views.close();
});

test("a damaged file is refused in a sentence that says what to do", async ({ path }) => {
  writeFileSync(path, "not a database, and long enough to be read as one: ".repeat(100));
  const { message } = await thrown(() => sqliteViewStore({ path, schemas: [schema] }));
  assert.match(message, /views\.db is damaged \(.*\): delete it .* the views are folded again from the log$/);
});

test("a view that changed under its name is refused, and can be removed to be folded again", async ({ path }) => {
  const first = sqliteViewStore({ path, schemas: [schema] });
  await first.commit("things.v1", null, "1", { documents: new Map([["a", { account: "x", at: 1 }]]) });
  await first.close();
  const changed: readonly ViewSchema[] = [
    { ...schema, fields: { ...schema.fields, state: "text" } },
    { ...schema, indexes: [...schema.indexes, ["at"]] },
  ];
  for (const other of changed) {
    const { message } = await thrown(() => sqliteViewStore({ path, schemas: [other] }));
    assert.match(message, "things.v1 is kept with other fields or indexes");
    assert.match(message, "rebuild");
  }
  const sameInOtherOrder = { ...schema, fields: { at: "number", account: "text" } } as const;
  await sqliteViewStore({ path, schemas: [sameInOtherOrder] }).close();

  assert.equal(removeViews(path, ["things.v1", "unknown.v1"]), ["things.v1"]);
  const rebuilt = sqliteViewStore({ path, schemas: changed.slice(0, 1) });
  assert.is(await rebuilt.position("things.v1"), null);
  assert.is(await rebuilt.get("things.v1", "a"), null);
  await rebuilt.close();
});

test("names that are no plain identifiers are refused", async ({ path }) => {
  const bad: readonly Partial<ViewSchema>[] = [
    { name: "things" },
    { name: 'a"; DROP TABLE views; --.v1' },
    { name: "Things.v1" },
    { fields: { 'a"b': "text" }, indexes: [] },
    { fields: { id: "text" }, indexes: [] },
    { fields: { Document: "text" }, indexes: [] },
    { fields: { createdAt: "text", createdat: "text" }, indexes: [] },
    { indexes: [["unknown"]] },
    { indexes: [[]] },
  ];
  for (const part of bad) {
    const error = await thrown(() => sqliteViewStore({ path, schemas: [{ ...schema, ...part }] }));
    assert.instance(error, TypeError, JSON.stringify(part));
  }
  assert.instance(await thrown(() => sqliteViewStore({ path, schemas: [schema, schema] })), TypeError);
});

test("a query by an unknown view or field is a bug, and throws", async ({ path }) => {
  const views = sqliteViewStore({ path, schemas: [schema] });
  const sort = { field: "at", order: "asc" } as const;
  const where: readonly Condition[] = [{ field: 'at" OR 1=1 --', is: "=", value: 1 }];
  await thrown(() => views.get("others.v1", "a"));
  await thrown(() => views.page("things.v1", { where, sort, limit: 1 }));
  await thrown(() => views.count("things.v1", where, 1));
  await thrown(() => views.page("things.v1", { where: [], sort: { field: "toString", order: "asc" }, limit: 1 }));
  await views.close();
});

test("a commit that the engine refuses is unavailable, and changes nothing", async ({ path }) => {
  const views = sqliteViewStore({ path, schemas: [schema] });
  await views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
  const other = new DatabaseSync(path);
  other.exec(
    "CREATE TRIGGER no BEFORE INSERT ON \"things.v1\" WHEN NEW.id = 'b' BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  other.close();
  const documents = new Map([
    ["a", { at: 2 }],
    ["b", { at: 2 }],
  ]);
  assert.instance(await thrown(() => views.commit("things.v1", "1", "2", { documents })), ViewsUnavailable);
  assert.is(await views.position("things.v1"), "1");
  assert.equal(await views.get("things.v1", "a"), { at: 1 });
  assert.is(await views.commit("things.v1", "1", "2", { documents: new Map([["a", { at: 3 }]]) }), "committed");
  await views.close();
});

/** What SQLite says it will do for the last statement of a page. */
const planOf = (path: string, sql: string): string => {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  database.close();
  return rows.map(({ detail }) => String(detail)).join("; ");
};

test("the declared index serves condition, order and cursor, without sorting", async ({ path }) => {
  await sqliteViewStore({ path, schemas: [schema] }).close();
  const plan = planOf(
    path,
    `SELECT id, document FROM "things.v1" WHERE "account" = 'x' AND "at" IS NOT NULL AND ("at", id) < (5, 'a')
     ORDER BY "at" DESC, id DESC LIMIT 9`,
  );
  assert.match(plan, /USING INDEX things\.v1\/account\/at \(account=\? AND at>\? AND \(at,id\)<\(\?,\?\)\)/);
  assert.not.match(plan, "TEMP B-TREE");
});

const text = fc.constantFrom("a", "b", "é", "😀", "\uffee", "a\0", "\ud800", "");
const value = fc.oneof(text, fc.integer({ min: -2, max: 4 }), fc.constantFrom(null, true, 0.5, -0));
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
    after: fc.option(fc.record({ value: condition.chain(({ value: v }) => fc.constant(v)), id: text }), {
      nil: undefined,
    }),
    limit: fc.integer({ min: 0, max: 8 }),
  })
  .map(({ after, ...rest }) => (after === undefined ? rest : { ...rest, after }));

test("any query finds the same as the store in memory", async ({ path }) => {
  const views = sqliteViewStore({ path, schemas: [schema] });
  const run = async (documents: readonly Document[], queries: readonly ViewQuery[]) => {
    const memory = memoryViewStore([schema]);
    await views.drop("things.v1", "a log");
    const named = new Map(documents.map((it, i) => [`d${i}`, it]));
    for (const store of [views, memory]) await store.commit("things.v1", null, "1", { documents: named });
    for (const it of queries) {
      assert.equal(await views.page("things.v1", it), await memory.page("things.v1", it));
      assert.is(await views.count("things.v1", it.where, 5), await memory.count("things.v1", it.where, 5));
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(document, { maxLength: 12 }), fc.array(query, { minLength: 1, maxLength: 8 }), run),
    { numRuns: 150 },
  );
  await views.close();
});

test.run();

viewStoreContract("sqlite", async (schemas) => {
  const directory = mkdtempSync(join(tmpdir(), "views-"));
  const views = sqliteViewStore({ path: join(directory, "views.db"), schemas });
  return {
    ...views,
    async close() {
      await views.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
