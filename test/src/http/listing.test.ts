import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Document, ViewSchema } from "../../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { decodeCursor, encodeCursor, isPage, type Page, pageOf } from "../../../src/http/listing.ts";
import type { Problem } from "../../../src/streams/problems.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", at: "text", size: "number" },
  indexes: [["account", "at"]],
};
const listing = {
  view: schema.name,
  where: [{ field: "account", is: "=", value: "acc_1" }],
  sort: { field: "at", order: "desc" },
} as const;

const things = async (count: number) => {
  const views = memoryViewStore([schema]);
  const documents = new Map<string, Document>();
  // Three of a kind at each moment: the id decides among them.
  for (let i = 0; i < count; i += 1)
    documents.set(`t${i}`, {
      account: i % 5 === 4 ? "acc_2" : "acc_1",
      at: `2026-01-${10 + Math.floor(i / 3)}`,
      size: i,
    });
  await views.commit(schema.name, null, "1", { documents });
  return views;
};

const test = suite("listing");

test("a cursor comes back as it was made", () =>
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      fc.string(),
      (value, id) => {
        assert.equal(decodeCursor(encodeCursor({ value, id })), JSON.parse(JSON.stringify({ value, id })));
      },
    ),
  ));

test("anything else is none of ours", () => {
  const of = (text: string) => Buffer.from(text).toString("base64url");
  const cursor = encodeCursor({ value: "a", id: "b" });
  const shapes = [
    "",
    "null",
    "[]",
    '["a"]',
    '["a",1]',
    '["a","b","c"]',
    '[null,"b"]',
    '[1e999,"b"]',
    '{"value":1,"id":"b"}',
    "[",
  ];
  for (const text of [...shapes.map(of), `${cursor}=`, ` ${cursor}`, `${cursor}!`, "x".repeat(5_000), "ü"])
    assert.is(decodeCursor(text), null, text);
  fc.assert(
    fc.property(fc.string(), (text) => {
      decodeCursor(text);
    }),
  );
});

test("pages show every document of the account once, newest first", async () => {
  const views = await things(43);
  for (const limit of [1, 2, 7, 100]) {
    const seen: { id: string; at: unknown }[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: Page<{ id: string; at: unknown }> | Problem = await pageOf(
        views,
        listing,
        cursor === null ? { limit } : { limit, cursor },
        ({ at }, id) => ({
          id,
          at,
        }),
      );
      assert.ok(isPage(page) && page.data.length <= limit);
      seen.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    assert.is(new Set(seen.map(({ id }) => id)).size, 35);
    assert.is(seen.length, 35);
    const times = seen.map(({ at }) => String(at));
    assert.equal(times, times.toSorted().toReversed());
  }
});

test("a list has fifty entries by default, and an exactly full last page has no next cursor", async () => {
  const views = await things(100);
  const page = await pageOf(views, listing, {}, (_, id) => id);
  assert.ok(isPage(page) && page.data.length === 50 && page.next_cursor !== null);
  const last = await pageOf(views, listing, { limit: 30, cursor: page.next_cursor }, (_, id) => id);
  assert.ok(isPage(last) && last.data.length === 30 && last.next_cursor === null);
});

test("a bad limit or cursor is the caller's mistake", async () => {
  const views = await things(3);
  const bad = [
    { limit: 0 },
    { limit: 101 },
    { limit: 1.5 },
    { limit: "5" },
    { cursor: "x" },
    { cursor: ["a"] },
    { cursor: "" },
  ];
  for (const query of bad) {
    const page = await pageOf(views, listing, query, (_, id) => id);
    assert.ok("problem" in page && page.problem === "invalid-request", JSON.stringify(query));
  }
});

test("a cursor of another list finds nothing that is not the account's", async () => {
  const views = await things(20);
  for (const value of ["9999", 7]) {
    const page = await pageOf(views, listing, { cursor: encodeCursor({ value, id: "t4" }) }, ({ account }) => account);
    assert.ok(isPage(page) && page.data.every((account) => account === "acc_1"));
  }
});
test.run();
