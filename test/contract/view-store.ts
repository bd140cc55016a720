import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Condition, Document, ViewQuery, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";

/** The views that an adapter is opened with; `orders.v1` has every kind of field and index. */
const CONTRACT_SCHEMAS: readonly ViewSchema[] = [
  {
    name: "orders.v1",
    fields: { account: "text", state: "text", at: "number" },
    indexes: [["account", "at"], ["account", "state", "at"], ["at"]],
  },
  { name: "notes.v1", fields: { account: "text", text: "text" }, indexes: [["account", "text"]] },
  {
    name: "ended.v1",
    fields: { account: "text", ended_at: "text" },
    indexes: [["account", "ended_at"]],
    packing: { members: { account: "word", ended_at: "time" }, isSmall: true },
  },
  {
    name: "records.v1",
    fields: { account: "text", index: "number", type: "text" },
    indexes: [["account", "type", "index"]],
    packing: {
      members: { account: "word", type: "word", stream: "text", at: "time", position: "position", subject: "subject" },
      numbered: ["account", "index"],
    },
  },
];

/** Opens an empty store; whatever it stands on is removed when the store is closed. */
export type OpenViewStore = (schemas: readonly ViewSchema[]) => Promise<ViewStore>;
export type ContractCase = { readonly name: string; readonly run: (views: ViewStore) => Promise<void> };

export const BY_CODE_POINT = "text sorts by code point";

const ORDERS = "orders.v1";
const NOTES = "notes.v1";
const LOG = "a log";
const position = (n: number): Position => String(n).padStart(8, "0");
const order = (account: string, at: number, state = "open"): Document => ({ account, at, state });

/** Commits behind whatever is there. */
const put = async (views: ViewStore, view: string, documents: Record<string, Document | null>): Promise<void> => {
  const after = await views.position(view);
  const outcome = await views.commit(view, after, position(Number(after) + 1), {
    documents: new Map(Object.entries(documents)),
  });
  assert.is(outcome, "committed");
};

/** JSON with members in one order, for documents whose `__proto__` a comparison of objects overlooks. */
const sortedJson = (document: Document | null): string => JSON.stringify(Object.entries(document ?? {}).sort());

const ids = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);
const ascending = { field: "at", order: "asc" } as const;
const descending = { field: "at", order: "desc" } as const;

/** Far more than any case needs: an adapter that repeats pages fails instead of running for ever. */
const PAGES_MAX = 200;

/** Every page until an empty one; `between` runs after each, as writers do. */
const walk = async (
  views: ViewStore,
  query: ViewQuery,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<readonly string[]> => {
  const seen: string[] = [];
  let after: ViewQuery["after"];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await views.page(ORDERS, { ...query, ...(after === undefined ? {} : { after }) });
    assert.ok(found.length <= query.limit, "no page is longer than its limit");
    const last = found.at(-1);
    if (last === undefined) return seen;
    seen.push(...ids(found));
    after = { value: Number(last.document.at), id: last.id };
    await between(page);
  }
  throw new Error("the pages do not end");
};

const commits: readonly ContractCase[] = [
  {
    name: "a view begins without a position and keeps that of the last commit",
    async run(views) {
      assert.is(await views.position(ORDERS), null);
      assert.is(await views.commit(ORDERS, null, position(3), { documents: new Map() }), "committed");
      assert.is(await views.position(ORDERS), position(3));
      assert.is(await views.commit(ORDERS, position(3), position(7), { documents: new Map() }), "committed");
      assert.is(await views.position(ORDERS), position(7));
    },
  },
  {
    name: "a commit after another checkpoint is stale and writes nothing",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1) });
      const late = new Map([
        ["a", order("x", 99)],
        ["b", order("x", 2)],
      ]);
      assert.is(await views.commit(ORDERS, null, position(9), { documents: late }), "stale");
      assert.is(await views.commit(ORDERS, position(5), position(9), { documents: late }), "stale");
      assert.equal(await views.get(ORDERS, "a"), order("x", 1));
      assert.is(await views.get(ORDERS, "b"), null);
      assert.is(await views.position(ORDERS), position(1));
    },
  },
  {
    name: "of two commits after the same checkpoint one wins",
    async run(views) {
      for (const after of [null, position(1)]) {
        const upTo = position(Number(after) + 1);
        const outcomes = await Promise.all(
          ["one", "two"].map((by) => views.commit(ORDERS, after, upTo, { documents: new Map([["a", order(by, 1)]]) })),
        );
        assert.equal([...outcomes].sort(), ["committed", "stale"]);
        const winner = outcomes[0] === "committed" ? "one" : "two";
        assert.equal(await views.get(ORDERS, "a"), order(winner, 1));
      }
    },
  },
  {
    name: "a document is replaced as a whole, and null removes it",
    async run(views) {
      await put(views, ORDERS, { a: { ...order("x", 1), note: "first" }, b: order("x", 2) });
      await put(views, ORDERS, { a: order("y", 3), b: null, never: null });
      assert.equal(await views.get(ORDERS, "a"), order("y", 3));
      assert.is(await views.get(ORDERS, "b"), null);
      assert.is(await views.count(ORDERS, [{ field: "account", is: "=", value: "x" }], 10), 0);
    },
  },
  {
    name: "500 documents are one commit",
    async run(views) {
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`d${i}`, order("x", i)]));
      await put(views, ORDERS, many);
      assert.is(await views.count(ORDERS, [], 1_000), 500);
      assert.equal(await views.get(ORDERS, "d499"), order("x", 499));
    },
  },
  {
    name: "dropping forgets documents and checkpoint, and the view can be folded again",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1) });
      await put(views, NOTES, { n: { account: "x", text: "kept" } });
      await views.drop(ORDERS, LOG);
      assert.is(await views.position(ORDERS), null);
      assert.is(await views.get(ORDERS, "a"), null);
      assert.is(await views.count(ORDERS, [], 10), 0);
      assert.is(
        await views.commit(ORDERS, null, position(1), { documents: new Map([["b", order("x", 2)]]) }),
        "committed",
      );
      assert.is(await views.count(NOTES, [], 10), 1);
      await views.drop(ORDERS, LOG);
      await views.drop(ORDERS, LOG);
    },
  },
  {
    name: "a view belongs to the log that its last drop named",
    async run(views) {
      assert.is(await views.origin(ORDERS), null);
      await put(views, ORDERS, { a: order("x", 1) });
      assert.is(await views.origin(ORDERS), null);
      for (const log of [LOG, "another log"]) {
        await views.drop(ORDERS, log);
        assert.equal(await views.origin(ORDERS), { log, isEmptied: true, last: null });
        await put(views, ORDERS, { a: order("x", 1) });
        await put(views, ORDERS, { a: null });
        assert.equal(await views.origin(ORDERS), { log, isEmptied: true, last: null });
      }
      assert.is(await views.origin(NOTES), null);
    },
  },
  {
    name: "the checkpoint names the record of the last commit, and forgets it with a drop",
    async run(views) {
      const lastOf = async (): Promise<unknown> => (await views.origin(ORDERS))?.last;
      const record = (revision: number) => ({ stream: "source-1", revision, id: `event-${revision}` });
      await views.drop(ORDERS, LOG);
      // A whole record is passed by who folds: only its name is kept.
      const passed = { ...record(4), type: "Counted", data: { a: 1 } };
      await views.commit(ORDERS, null, position(1), { documents: new Map([["a", order("x", 1)]]), record: passed });
      assert.equal(await lastOf(), { ...record(4), position: position(1) });
      const stale = await views.commit(ORDERS, null, position(2), { documents: new Map(), record: record(5) });
      assert.equal([stale, await lastOf()], ["stale", { ...record(4), position: position(1) }]);
      await views.commit(ORDERS, position(1), position(2), { documents: new Map(), record: record(5) });
      assert.equal(await lastOf(), { ...record(5), position: position(2) });
      await views.commit(ORDERS, position(2), position(3), { documents: new Map([["a", null]]) });
      assert.is(await lastOf(), null, "a commit without a record does not leave the name of an earlier one");
      await views.commit(ORDERS, position(3), position(4), { documents: new Map(), record: record(6) });
      await views.drop(ORDERS, LOG);
      assert.is(await lastOf(), null);
    },
  },
  {
    name: "views see neither each other's documents nor each other's checkpoints",
    async run(views) {
      await put(views, ORDERS, { same: order("x", 1) });
      assert.is(await views.position(NOTES), null);
      assert.is(await views.get(NOTES, "same"), null);
      await put(views, NOTES, { same: { account: "x", text: "note" } });
      assert.equal(await views.get(ORDERS, "same"), order("x", 1));
    },
  },
];

/** What a fold from the checkpoint begins with. */
const loaded = async (
  views: ViewStore,
  view: string,
  ids: readonly string[],
): Promise<Record<string, Document | null>> => {
  const after = await views.position(view);
  const found = await views.load(view, after, ids);
  if (found === "stale") throw new Error("the checkpoint is the one that was just read");
  for (const [id, { position: reached }] of found)
    assert.ok(reached === null || after === null || reached > after, `${id} is folded as far as the checkpoint`);
  return Object.fromEntries([...found].map(([id, { document }]) => [id, document]));
};

const loads: readonly ContractCase[] = [
  {
    name: "loading answers for every id, with null for a missing or removed document and an invalid id",
    async run(views) {
      assert.equal(await loaded(views, ORDERS, ["a"]), { a: null });
      await put(views, ORDERS, { a: order("x", 1), b: order("x", 2) });
      await put(views, ORDERS, { b: null, c: order("x", 3) });
      const all = { a: order("x", 1), b: null, c: order("x", 3), d: null, "e\0": null };
      assert.equal(await loaded(views, ORDERS, Object.keys(all)), all);
      const many = await loaded(views, ORDERS, [...Array.from({ length: 2_500 }, (_, i) => `m${i}`), "a"]);
      assert.is(Object.keys(many).length, 2_501);
      assert.equal(many.a, order("x", 1));
    },
  },
  {
    name: "loading after another checkpoint is stale",
    async run(views) {
      assert.is(await views.load(ORDERS, position(1), ["a"]), "stale");
      await put(views, ORDERS, { a: order("x", 1) });
      for (const after of [null, position(0), position(2)]) assert.is(await views.load(ORDERS, after, ["a"]), "stale");
      await put(views, ORDERS, { a: order("x", 2) });
      assert.is(await views.load(ORDERS, position(1), ["a"]), "stale");
      assert.equal(await loaded(views, ORDERS, ["a"]), { a: order("x", 2) });
    },
  },
  {
    name: "a document that was removed can come back",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1) });
      await put(views, ORDERS, { a: null });
      assert.equal(await loaded(views, ORDERS, ["a"]), { a: null });
      await put(views, ORDERS, { a: order("x", 3) });
      assert.equal(await loaded(views, ORDERS, ["a"]), { a: order("x", 3) });
      assert.equal(await views.get(ORDERS, "a"), order("x", 3));
    },
  },
  {
    name: "a fold that loaded before a drop does not commit after it",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1) });
      assert.equal(await loaded(views, ORDERS, ["a"]), { a: order("x", 1) });
      await views.drop(ORDERS, LOG);
      assert.equal(
        await views.commit(ORDERS, position(1), position(2), { documents: new Map([["a", order("x", 2)]]) }),
        "stale",
      );
      assert.is(await views.position(ORDERS), null);
      assert.is(await views.get(ORDERS, "a"), null);
      await put(views, ORDERS, { b: order("x", 1) });
      assert.equal(await loaded(views, ORDERS, ["a", "b"]), { a: null, b: order("x", 1) });
    },
  },
];

const lookUps: readonly ContractCase[] = [
  {
    name: "looking up many ids finds the existing documents",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1), b: order("x", 2) });
      assert.equal(await views.getMany(ORDERS, []), new Map());
      const found = await views.getMany(ORDERS, ["b", "missing", "a", "a"]);
      assert.equal([...found].sort(), [
        ["a", order("x", 1)],
        ["b", order("x", 2)],
      ]);
      const many = await views.getMany(ORDERS, [...Array.from({ length: 2_500 }, (_, i) => `m${i}`), "a"]);
      assert.equal([...many.keys()], ["a"]);
    },
  },
  {
    name: "any text is stored and found unchanged: accents, emoji, quotes, NUL and lone surrogates",
    async run(views) {
      const texts = ["é", "e\u0301", "😀", "\uffee", "o'x\" -- ;", "\u202egnp", "a\0b", "\ud800", "__proto__", ""];
      for (const [i, text] of texts.entries()) {
        const document = { account: "x", text, nested: { list: [text, null, true, 1.5, {}] } };
        await put(views, NOTES, { [`id-${i}-é😀`]: document });
        assert.equal(await views.get(NOTES, `id-${i}-é😀`), document);
      }
      for (const [i, value] of texts.entries()) {
        const query = {
          where: [{ field: "text", is: "=", value }],
          sort: { field: "text", order: "asc" },
          limit: 9,
        } as const;
        const found = ids(await views.page(NOTES, query));
        assert.equal(found, [`id-${i}-é😀`], JSON.stringify(value));
      }
    },
  },
  {
    name: BY_CODE_POINT,
    async run(views) {
      const texts = ["😀", "\uffee", "z", "é", "Z", "a"];
      await put(views, NOTES, Object.fromEntries(texts.map((text, i) => [`n${i}`, { account: "x", text }])));
      const found = await views.page(NOTES, { where: [], sort: { field: "text", order: "asc" }, limit: 9 });
      assert.equal(
        found.map(({ document }) => document.text),
        ["Z", "a", "z", "é", "\uffee", "😀"],
      );
    },
  },
  {
    name: "an invalid id has no document, and is refused in a commit",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1) });
      for (const id of ["", "a\0b", "a\ud800", "a".repeat(600)]) {
        assert.is(await views.get(ORDERS, id), null);
        assert.is((await views.getMany(ORDERS, [id])).size, 0);
        const committed = views.commit(ORDERS, position(1), position(2), { documents: new Map([[id, order("x", 1)]]) });
        assert.ok(
          await committed.then(
            () => false,
            () => true,
          ),
        );
      }
    },
  },
  {
    name: "counting stops at the number given",
    async run(views) {
      await put(views, ORDERS, { a: order("x", 1), b: order("x", 2), c: order("y", 3), d: order("x", 4) });
      const where = [{ field: "account", is: "=", value: "x" }] as const;
      assert.is(await views.count(ORDERS, where, 10), 3);
      assert.is(await views.count(ORDERS, where, 2), 2);
      assert.is(await views.count(ORDERS, where, 0), 0);
      assert.is(await views.count(ORDERS, [...where, { field: "at", is: ">", value: 1 }], 10), 2);
    },
  },
];

const pages: readonly ContractCase[] = [
  {
    name: "a page is sorted either way, and equal sort values by id",
    async run(views) {
      await put(views, ORDERS, {
        c: order("x", 5),
        a: order("x", 5),
        d: order("x", 1),
        b: order("x", 5),
        e: order("x", 9),
      });
      const page = (sort: ViewQuery["sort"], limit: number) => views.page(ORDERS, { where: [], sort, limit });
      assert.equal(ids(await page(ascending, 10)), ["d", "a", "b", "c", "e"]);
      assert.equal(ids(await page(descending, 10)), ["e", "c", "b", "a", "d"]);
      assert.equal(ids(await page(ascending, 2)), ["d", "a"]);
      assert.equal(await page(ascending, 0), []);
    },
  },
  {
    name: "the leading condition does not change the result",
    async run(views) {
      const orders = { a: order("x", 1), b: order("x", 2), c: order("y", 3), d: order("y", 2) };
      await put(views, ORDERS, orders);
      const where: Condition[] = [
        { field: "account", is: "=", value: "x" },
        { field: "at", is: ">", value: 1 },
      ];
      for (const lead of ["account", "at", undefined]) {
        const query = { where, sort: descending, limit: 10, ...(lead === undefined ? {} : { lead }) };
        assert.equal(ids(await views.page(ORDERS, query)), ["b"], lead);
      }
    },
  },
  {
    name: "conditions compare numbers and text, and all of them hold",
    async run(views) {
      await put(views, ORDERS, {
        a: order("x", 9),
        b: order("x", 10),
        c: order("x", 11),
        d: order("y", 10),
        e: order("x", -1),
      });
      const found = async (is: "=" | "<" | "<=" | ">" | ">=") => {
        const where = [
          { field: "account", is: "=", value: "x" },
          { field: "at", is, value: 10 },
        ] as const;
        return ids(await views.page(ORDERS, { where, sort: ascending, limit: 10 })).join("");
      };
      assert.is(await found("="), "b");
      assert.is(await found("<"), "ea");
      assert.is(await found("<="), "eab");
      assert.is(await found(">"), "c");
      assert.is(await found(">="), "bc");
      const text = [{ field: "account", is: ">", value: "x" }] as const;
      assert.equal(ids(await views.page(ORDERS, { where: text, sort: ascending, limit: 10 })), ["d"]);
    },
  },
  {
    name: "a document without the field, or with another type in it, is not found by it and not listed when sorted by it",
    async run(views) {
      await put(views, ORDERS, {
        a: order("x", 1),
        missing: { account: "x" },
        none: { account: "x", at: null },
        text: { account: "x", at: "2" },
      });
      for (const sort of [ascending, descending])
        assert.equal(ids(await views.page(ORDERS, { where: [], sort, limit: 10 })), ["a"]);
      assert.is(await views.count(ORDERS, [{ field: "at", is: ">", value: -1e15 }], 10), 1);
      assert.is(await views.count(ORDERS, [{ field: "account", is: "=", value: "x" }], 10), 4);
      assert.is(await views.count(ORDERS, [{ field: "at", is: "=", value: "2" }], 10), 0);
      const after = { value: "1", id: "a" };
      assert.equal(await views.page(ORDERS, { where: [], sort: ascending, after, limit: 10 }), []);
    },
  },
  {
    name: "walking pages of any size visits each document once, through runs of equal sort values",
    async run(views) {
      const documents = Array.from({ length: 60 }, (_, i) => [`d${(i * 37) % 60}`, order(`a${i % 2}`, i % 4)] as const);
      await put(views, ORDERS, Object.fromEntries(documents));
      const where = [{ field: "account", is: "=", value: "a1" }] as const;
      for (const sort of [ascending, descending]) {
        const all = ids(await views.page(ORDERS, { where, sort, limit: 100 }));
        assert.is(all.length, 30);
        for (const limit of [1, 4, 7, 30]) assert.equal(await walk(views, { where, sort, limit }), all);
      }
    },
  },
  {
    name: "a range on the sort field holds on every page, wherever the cursor stands",
    async run(views) {
      const documents = Array.from(
        { length: 40 },
        (_, i) => [`d${(i * 7) % 40}`, order("x", Math.floor(i / 4))] as const,
      );
      await put(views, ORDERS, Object.fromEntries(documents));
      for (const [low, high] of [
        [">=", "<"],
        [">", "<="],
      ] as const) {
        const where = [
          { field: "at", is: low, value: 2 },
          { field: "at", is: high, value: 7 },
        ] as const;
        for (const sort of [ascending, descending]) {
          const all = ids(await views.page(ORDERS, { where, sort, limit: 100 }));
          assert.is(all.length, 20);
          assert.equal(await walk(views, { where, sort, limit: 3 }), all);
          const before = { value: sort.order === "asc" ? 0 : 9, id: "d" };
          assert.equal(ids(await views.page(ORDERS, { where, sort, after: before, limit: 100 })), all);
          const onTheBound = { value: sort.order === "asc" ? 2 : 7, id: "" };
          const page = await views.page(ORDERS, { where, sort, after: onTheBound, limit: 100 });
          const within = page.every(({ document }) => Number(document.at) >= 2 && Number(document.at) <= 7);
          assert.ok(within, "no cursor widens the range");
        }
      }
    },
  },
  {
    name: "paging neither skips nor repeats documents that stay, while others come, change and go",
    async run(views) {
      const there = Array.from({ length: 30 }, (_, i) => `d${String(i).padStart(2, "0")}`);
      await put(views, ORDERS, Object.fromEntries(there.map((id, i) => [id, order("x", 100 + Math.floor(i / 5))])));
      const where = [{ field: "account", is: "=", value: "x" }] as const;
      for (const [sort, expected] of [
        [ascending, there],
        [descending, [...there].reverse()],
      ] as const) {
        const seen = await walk(views, { where, sort, limit: 4 }, async (page) => {
          if (page > 6) return;
          await put(views, ORDERS, {
            [`new-${sort.order}-${page}-low`]: order("x", page),
            [`new-${sort.order}-${page}-high`]: order("x", 900 - page),
            [`d${String(page * 4).padStart(2, "0")}`]: order("x", 100 + Math.floor((page * 4) / 5), "changed"),
          });
        });
        assert.is(new Set(seen).size, seen.length, "nothing twice");
        assert.equal(
          seen.filter((id) => id.startsWith("d")),
          expected,
        );
      }
    },
  },
];

const ENDED = "ended.v1";
const RECORDS = "records.v1";
const NOON = "2026-03-01T12:00:00.000Z";
/** Among them texts that look like times, of which `Date` reads some. */
const TIMES: readonly string[] = [
  "0000-01-01T00:00:00.000Z",
  "2026-02-28T23:59:59.999Z",
  NOON,
  "2026-03-01T12:00:00.001Z",
  "9999-12-31T23:59:59.999Z",
];
const NO_TIMES: readonly string[] = [
  "",
  "2026",
  "2026-02-30T00:00:00.000Z",
  "2026-02-28T24:00:00.000Z",
  "5",
  "9e15",
  "-9e15",
  "~",
  "é",
];
const ofX = { field: "account", is: "=", value: "x" } as const;

const numbered = (account: string, index: number, more: Document = {}): readonly [string, Document] => {
  const position = String(index + 40).padStart(16, "0");
  const known = {
    stream: "delivery-evt_1",
    subject: "evt_1",
    at: NOON,
    position,
    type: index % 2 === 0 ? "even" : "odd",
  };
  return [`${account}/${String(index).padStart(12, "0")}`, { account, index, ...known, ...more }];
};

const packed: readonly ContractCase[] = [
  {
    name: "packed members of any value are read as they were put",
    async run(views) {
      const values = [...TIMES, ...NO_TIMES, "a\0b", "\ud800", null, true, 5, -0.5, [NOON], { at: NOON }];
      const kept = values.flatMap((value, n): (readonly [string, Document])[] => [
        [`t${n}`, { account: "x", ended_at: value }],
        [`w${n}`, { account: value, ended_at: NOON, more: { account: value, [String(value)]: [value, "\u0001abc"] } }],
      ]);
      const documents = new Map<string, Document>([...kept, ["none", {}], ["more", { __proto__: null, more: [1] }]]);
      documents.set("proto", JSON.parse('{"__proto__":{"a":1},"account":"x"}') as Document);
      await put(views, ENDED, Object.fromEntries(documents));
      for (const [id, document] of documents)
        assert.is(sortedJson(await views.get(ENDED, id)), sortedJson({ ...document }), id);

      const positions = ["0000000000000041", "41", "9".repeat(16), "0000000000000041-x", null, 41];
      const streams = ["delivery-evt_1", "evt_1", "delivery-evt_1-2", null];
      const odd = [...positions.map((position) => ({ position })), ...streams.map((stream) => ({ stream }))];
      const records = new Map(odd.map((more, index) => numbered("x", index, more)));
      await put(views, RECORDS, Object.fromEntries(records));
      const found = await views.getMany(RECORDS, [...records.keys()]);
      assert.is(found.size, odd.length);
      for (const [id, document] of records) assert.equal(found.get(id), document);
    },
  },
  {
    name: "packed times are compared as the texts that they are, also with texts that are no times",
    async run(views) {
      await put(views, ENDED, Object.fromEntries(TIMES.map((ended_at, n) => [`d${n}`, { account: "x", ended_at }])));
      const there = (keeps: (time: string) => boolean) => TIMES.flatMap((time, n) => (keeps(time) ? [`d${n}`] : []));
      for (const value of [...TIMES, ...NO_TIMES]) {
        const found = async (is: Condition["is"]) => {
          const where = [ofX, { field: "ended_at", is, value }] as const;
          const page = ids(await views.page(ENDED, { where, sort: { field: "ended_at", order: "asc" }, limit: 9 }));
          assert.is(await views.count(ENDED, where, 9), page.length);
          return page;
        };
        assert.equal(
          await found("="),
          there((time) => time === value),
          `= ${value}`,
        );
        assert.equal(
          await found("<"),
          there((time) => time < value),
          `< ${value}`,
        );
        assert.equal(
          await found("<="),
          there((time) => time <= value),
          `<= ${value}`,
        );
        assert.equal(
          await found(">"),
          there((time) => time > value),
          `> ${value}`,
        );
        assert.equal(
          await found(">="),
          there((time) => time >= value),
          `>= ${value}`,
        );
        for (const order of ["asc", "desc"] as const) {
          const query = { where: [ofX], sort: { field: "ended_at", order }, limit: 9 } as const;
          const after = ids(await views.page(ENDED, { ...query, after: { value, id: "d2" } }));
          const beyond = TIMES.flatMap((time, n) => {
            const distance = time === value ? n - 2 : time < value ? -1 : 1;
            return (order === "asc" ? distance > 0 : distance < 0) ? [`d${n}`] : [];
          });
          assert.equal(after, order === "asc" ? beyond : beyond.reverse(), `${order} after ${value}`);
        }
      }
    },
  },
  {
    name: "documents of a numbered view are found by id, by number and by word, and those without a number by id",
    async run(views) {
      const records = [0, 1, 2, 3].flatMap((index) => [numbered("x", index), numbered("y", index)]);
      const head = { count: 4, categories: ["delivery"] };
      await put(views, RECORDS, { ...Object.fromEntries(records), x: head, y: head });
      assert.equal(await views.get(RECORDS, "x"), head);
      assert.equal(
        await views.getMany(RECORDS, ["x", ...records.map(([id]) => id)]),
        new Map([["x", head], ...records]),
      );
      assert.is(await views.get(RECORDS, "x/000000000004"), null);
      assert.is(await views.get(RECORDS, "z/000000000000"), null);
      const sort = { field: "index", order: "desc" } as const;
      const odd = [ofX, { field: "type", is: "=", value: "odd" }] as const;
      const page = await views.page(RECORDS, { where: odd, sort, limit: 5 });
      assert.equal(
        page,
        [3, 1].map((index) => numbered("x", index)).map(([id, document]) => ({ id, document })),
      );
      const after = { value: 3, id: numbered("x", 3)[0] };
      assert.equal(ids(await views.page(RECORDS, { where: odd, sort, limit: 5, after })), ["x/000000000001"]);
      assert.is(await views.count(RECORDS, odd, 5), 2);
      assert.equal(await views.page(RECORDS, { where: [{ ...ofX, value: "z" }], sort, limit: 5 }), []);

      await put(views, RECORDS, { x: null, "x/000000000003": null });
      assert.is(await views.get(RECORDS, "x"), null);
      assert.is(await views.count(RECORDS, odd, 5), 1);
      await views.drop(RECORDS, LOG);
      assert.is((await views.getMany(RECORDS, ["y", ...records.map(([id]) => id)])).size, 0);
    },
  },
  {
    name: "the values of a field are listed one after the other, packed or not",
    async run(views) {
      const accounts = ["b", "a", "é", "a", "c"];
      const documents = Object.fromEntries(accounts.map((account, n) => [`d${n}`, { account, ended_at: NOON, at: n }]));
      for (const view of [ENDED, ORDERS]) {
        assert.is(await views.next(view, "account", ""), null);
        await put(views, view, { ...documents, none: { ended_at: NOON } });
        const seen: string[] = [];
        for (let next = await views.next(view, "account", ""); next !== null; ) {
          seen.push(next);
          next = await views.next(view, "account", next);
        }
        assert.equal(seen, ["a", "b", "c", "é"]);
        await put(views, view, { d1: null, d3: null });
        assert.is(await views.next(view, "account", ""), "b", "a value without documents is passed over");
      }
    },
  },
];

export const VIEW_STORE_CASES: readonly ContractCase[] = [...commits, ...loads, ...lookUps, ...pages, ...packed];

/** Runs one case on a fresh store. */
export const runCase = async ({ run }: ContractCase, open: OpenViewStore): Promise<void> => {
  const views = await open(CONTRACT_SCHEMAS);
  try {
    await run(views);
  } finally {
    await views.close();
  }
};

/** Every adapter runs this same suite: memory, sqlite, mongodb. `except`: what the server, not the adapter, gets wrong. */
export const viewStoreContract = (name: string, open: OpenViewStore, except: readonly string[] = []): void => {
  const test = suite(`view store contract: ${name}`);
  for (const contractCase of VIEW_STORE_CASES) {
    const { name: sentence } = contractCase;
    if (except.includes(sentence)) test.skip(sentence);
    else test(sentence, () => runCase(contractCase, open));
  }
  test.run();
};
