import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { Document, ViewStore } from "../../../domain/ports/view-store.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { withTimeout } from "../../../infra/with-timeout.ts";
import type { Projection } from "../../../projections/projection.ts";
import { Projector } from "../../../src/views/projector.ts";
import { rebuildViews } from "../../../src/views/rebuild.ts";
import { appendNumbered, numbered } from "../../support/numbered-log.ts";
import { until } from "../../support/until.ts";

type Step = { readonly key: string; readonly does: "add" | "remove" | "log" | "nothing" };

/** Two documents an event, removals, blind writes, and a result that depends on the order. */
const ledger: Projection = {
  schema: { name: "ledger.v1", fields: { hash: "number" }, indexes: [["hash"]] },
  idsOf: ({ data }) => (data.does === "nothing" ? [] : [String(data.key), "total"]),
  apply({ data }, documents) {
    const key = String(data.key);
    const n = Number(data.n);
    const hash = (Number(documents.get(key)?.hash ?? 7) * 31 + n) % 1_000_003;
    if (data.does === "remove") documents.put(key, null);
    else if (data.does === "log") documents.put(`log-${n}`, { hash });
    else documents.put(key, { hash });
    documents.put("total", { events: Number(documents.get("total")?.events ?? 0) + 1, hash });
  },
};

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  does: fc.constantFrom("add", "add", "remove", "log", "nothing"),
});

const filled = async (steps: readonly Step[]): Promise<EventLog> => {
  const log = memoryEventLog();
  await appendNumbered(log, 1, steps.length, (n) => (steps[n - 1] ?? {}) as JsonObject);
  return log;
};

/** The fold as it is meant: event by event over a Map, with no store, page or projector. */
const expected = async (log: EventLog): Promise<ReadonlyMap<string, Document>> => {
  const documents = new Map<string, Document>();
  for (const event of await log.readAll(null, 10_000)) {
    if (ledger.idsOf(event).length === 0) continue;
    ledger.apply(event, {
      get: (id) => documents.get(id) ?? null,
      put: (id, document) => (document === null ? documents.delete(id) : documents.set(id, document)),
    });
  }
  return documents;
};

const QUICK = { pollMs: 1, gatherMs: 0, retryMinMs: 0, retryMaxMs: 0, documentsMax: 2 };

/** A store that throws at some commits, before or after they were made, and now and then commits a page beforehand. */
const faulty = (views: ViewStore, faults: readonly ("none" | "before" | "after" | "twice")[]): ViewStore => {
  let next = 0;
  return {
    ...views,
    async commit(view, after, upTo, { documents }) {
      const fault = faults[next] ?? "none";
      next += 1;
      if (fault === "before") throw new Error("before");
      const outcome = await views.commit(view, after, upTo, { documents });
      if (fault === "after") throw new Error("after");
      return fault === "twice" ? views.commit(view, after, upTo, { documents }) : outcome;
    },
  };
};

const followTo = async (log: EventLog, views: ViewStore, options: object): Promise<void> => {
  const head = await log.head();
  const following = new Projector(log, views, [ledger], { ...QUICK, ...options });
  await following.start();
  await until("the head is reached", () => (following.positions()[0]?.position ?? "") >= (head ?? ""));
  await following.stop();
};

const contents = async (views: ViewStore, ids: Iterable<string>): Promise<ReadonlyMap<string, Document>> =>
  views.getMany("ledger.v1", [...ids]);

const allIds = (steps: readonly Step[]): readonly string[] => [
  ..."abc",
  "total",
  ...steps.map((_, i) => `log-${i + 1}`),
];

const sorted = (documents: ReadonlyMap<string, Document>) => [...documents].sort(([a], [b]) => (a < b ? -1 : 1));

const test = suite("rebuilding a view");

test("pages of any size, crashes and pages applied twice give what the plain fold gives, and so does a rebuild", async () => {
  const fault = fc.constantFrom("none", "none", "before", "after", "twice");
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 40 }),
    fc.array(fault, { maxLength: 12 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 12 }),
    async (steps, faults, pageMax, rebuiltPageMax) => {
      const log = await filled(steps);
      const views = memoryViewStore([ledger.schema]);
      await followTo(log, faulty(views, faults), { pageMax });
      const wanted = sorted(await expected(log));
      assert.equal(sorted(await contents(views, allIds(steps))), wanted);
      assert.is(await views.count("ledger.v1", [], 1_000), wanted.length);

      await rebuildViews(log, views, [ledger], { ...QUICK, pageMax: rebuiltPageMax });
      assert.equal(sorted(await contents(views, allIds(steps))), wanted);
      assert.is(await views.count("ledger.v1", [], 1_000), wanted.length);
      assert.is(await views.position("ledger.v1"), await log.head());
    },
  );
  await fc.assert(property, { numRuns: 120 });
});

test("a rebuild during another projector's work on the same views gives the same views", async () => {
  const steps: readonly Step[] = Array.from({ length: 300 }, (_, i) => ({ key: "abc"[i % 3] ?? "a", does: "add" }));
  const log = await filled(steps);
  const views = memoryViewStore([ledger.schema]);
  const following = new Projector(log, views, [ledger], { ...QUICK, pageMax: 7 });
  await following.start();
  await rebuildViews(log, views, [ledger], { ...QUICK, pageMax: 11 });
  await following.stop();
  assert.equal(sorted(await contents(views, allIds(steps))), sorted(await expected(log)));
});

test("a projection that throws ends the rebuild with its error", async () => {
  const log = await filled([{ key: "a", does: "add" }]);
  const views = memoryViewStore([ledger.schema]);
  const broken: Projection = {
    ...ledger,
    apply: () => {
      throw new Error("a bug");
    },
  };
  const error = await rebuildViews(log, views, [broken], QUICK).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.match(String(error), "ledger.v1 failed at Counted");
});

test("an empty log is rebuilt at once", async () => {
  const views = memoryViewStore([ledger.schema]);
  await views.commit("ledger.v1", null, "1", { documents: new Map([["a", { hash: 1 }]]) });
  await rebuildViews(memoryEventLog(), views, [ledger]);
  assert.is(await views.get("ledger.v1", "a"), null);
});

test("a log that ends in payloads, or has nothing else, is rebuilt up to its last record", async () => {
  for (const records of [0, 5]) {
    const log = await filled(Array.from({ length: records }, () => ({ key: "a", does: "add" }) as const));
    await log.append("payload-1", "absent", [numbered(99, {}, "PayloadKept")]);
    const views = memoryViewStore([ledger.schema]);
    await withTimeout(2_000, `it does not end with ${records} records`, rebuildViews(log, views, [ledger], QUICK));
    assert.is((await views.get("ledger.v1", "total"))?.events, records === 0 ? undefined : records);
  }
});

test.run();
