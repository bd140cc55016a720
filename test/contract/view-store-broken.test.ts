import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewOrigin, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { runCase, VIEW_STORE_CASES } from "./view-store.ts";

/** The cases that an adapter fails. */
const failures = async (open: (schemas: readonly ViewSchema[]) => ViewStore): Promise<readonly string[]> => {
  const failed: string[] = [];
  for (const contractCase of VIEW_STORE_CASES)
    await runCase(contractCase, async (schemas) => open(schemas)).catch(() => failed.push(contractCase.name));
  return failed;
};

/** A position that sorts behind this one, so that the store underneath takes a second commit. */
const later = (position: string): string => `${position}+`;

const broken: Readonly<Record<string, (good: ViewStore) => Partial<ViewStore>>> = {
  "does not compare the checkpoint": (good) => ({
    commit: async (view, _after, upTo, { documents }) =>
      good.commit(view, await good.position(view), upTo, { documents }),
  }),
  "compares the checkpoint before, not with, the write": (good) => ({
    async commit(view, after, upTo, { documents }) {
      if ((await good.position(view)) !== after) return "stale";
      await Promise.resolve();
      return good.commit(view, await good.position(view), later(upTo), { documents });
    },
  }),
  "writes the documents of a stale commit": (good) => ({
    async commit(view, after, upTo, { documents }) {
      const outcome = await good.commit(view, after, upTo, { documents });
      const now = await good.position(view);
      if (outcome === "stale") await good.commit(view, now, later(`${now}`), { documents });
      return outcome;
    },
  }),
  "keeps the checkpoint without the documents": (good) => ({
    commit: (view, after, upTo) => good.commit(view, after, upTo, { documents: new Map() }),
  }),
  "keeps the documents without the checkpoint": (good) => ({
    position: async () => null,
    async commit(view, after, upTo, { documents }) {
      if (after !== null) return "stale";
      const now = await good.position(view);
      return good.commit(view, now, now === null ? upTo : later(now), { documents });
    },
  }),
  "leaves out ties on the next page": (good) => ({
    async page(view, query) {
      const found = await good.page(view, query);
      return found.filter(({ document }) => document[query.sort.field] !== query.after?.value);
    },
  }),
  "repeats ties on the next page": (good) => ({
    page: (view, query) =>
      good.page(view, query.after === undefined ? query : { ...query, after: { value: query.after.value, id: "" } }),
  }),
  "pages by offset": (good) => {
    let seen = 0;
    return {
      async page(view, { after, ...query }) {
        const all = await good.page(view, { ...query, limit: 10_000 });
        seen = after === undefined ? 0 : seen;
        const found = all.slice(seen, seen + query.limit);
        seen += found.length;
        return found;
      },
    };
  },
  "does not sort downwards": (good) => ({
    page: (view, query) => good.page(view, { ...query, sort: { ...query.sort, order: "asc" } }),
  }),
  "keeps the checkpoint of a dropped view": (good) => ({
    async drop(view, log) {
      const before = await good.position(view);
      await good.drop(view, log);
      if (before !== null) await good.commit(view, null, before, { documents: new Map() });
    },
  }),
  "forgets which log a view belongs to": () => ({ origin: async () => null }),
  "keeps the name of the record before": (good) => {
    let last: ViewOrigin["last"] = null;
    return {
      async origin(view) {
        const origin = await good.origin(view);
        last = origin?.last ?? last;
        return origin === null ? null : { ...origin, last };
      },
    };
  },
  "does not keep the name of the record": (good) => ({
    commit: (view, after, upTo, { documents }) => good.commit(view, after, upTo, { documents }),
  }),
  "keeps the documents of a dropped view": () => ({ drop: async () => undefined }),
  "loads whatever the checkpoint is": (good) => ({
    load: async (view, _after, ids) => good.load(view, await good.position(view), ids),
  }),
  "loads only existing documents": (good) => ({
    async load(view, after, ids) {
      const loaded = await good.load(view, after, ids);
      return loaded === "stale" ? loaded : new Map([...loaded].filter(([, { document }]) => document !== null));
    },
  }),
  "loads documents at the checkpoint as if they were ahead": (good) => ({
    async load(view, after, ids) {
      const loaded = await good.load(view, after, ids);
      return loaded === "stale" ? loaded : new Map([...loaded].map(([id, it]) => [id, { ...it, position: after }]));
    },
  }),
  "never restores a removed document": (good) => {
    const removed = new Set<string>();
    return {
      async commit(view, after, upTo, { documents }) {
        for (const [id, document] of documents) if (document === null) removed.add(id);
        return good.commit(view, after, upTo, {
          documents: new Map([...documents].filter(([id, it]) => it === null || !removed.has(id))),
        });
      },
    };
  },
  "never removes": (good) => ({
    commit: (view, after, upTo, { documents }) =>
      good.commit(view, after, upTo, {
        documents: new Map([...documents].filter(([, document]) => document !== null)),
      }),
  }),
  "counts on": (good) => ({ count: (view, where) => good.count(view, where, 10_000) }),
  "keeps all views in one": (good) => ({
    get: (_view, id) => good.get("orders.v1", id),
    position: () => good.position("orders.v1"),
  }),
};

const test = suite("view store contract: broken adapters");

test("the good store passes", async () => {
  assert.equal(await failures(memoryViewStore), []);
});

const seen = new Set<string>();
for (const [fault, breaking] of Object.entries(broken))
  test(`a store that ${fault} fails`, async () => {
    const failed = await failures((schemas) => {
      const good = memoryViewStore(schemas);
      return { ...good, ...breaking(good) };
    });
    assert.ok(failed.length > 0);
    for (const name of failed) seen.add(name);
  });

test("every case has been seen to fail", () => {
  assert.equal(
    VIEW_STORE_CASES.map(({ name }) => name).filter((name) => !seen.has(name)),
    [],
  );
});

test.run();
