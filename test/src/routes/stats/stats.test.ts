import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Document } from "../../../../domain/ports/view-store.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { events } from "../../../../projections/events.ts";
import { gateDenials } from "../../../../projections/gate-denials.ts";
import { stats } from "../../../../projections/stats.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { eventRoutes } from "../../../../src/routes/events/events.ts";
import { statsRoutes } from "../../../../src/routes/stats/stats.ts";
import { payloads } from "../../../../src/streams/payloads.ts";
import { caller } from "../../../support/call.ts";
import { eventLives } from "../../../support/event-lives.ts";
import { at, bundleFacts, deliveryFacts, type History, history } from "../../../support/history.ts";
import { NO_CALLS } from "../../../support/no-calls.ts";
import { folded } from "../../../support/projected.ts";

const test = suite("figures");
const DAY_S = 86_400;
/** The lives last five days. */
const NOW = Date.parse(at(6 * DAY_S));
const viewerOf = (account: string): Principal => ({ kind: "key", account, id: "key_1", role: "viewer" });
const ZONES: Readonly<Record<string, string>> = { acc_1: "Asia/Kathmandu", acc_2: "UTC" };

const served = async (log: History) => {
  const views = memoryViewStore([events.schema, gateDenials.schema, stats.schema]);
  const upTo = log.events.at(-1)?.position ?? "1";
  for (const projection of [events, gateDenials, stats]) {
    const documents = new Map<string, Document>(Object.entries(folded(projection, log.events, 20).all()));
    await views.commit(projection.schema.name, null, upTo, { documents });
  }
  const memory = memoryEventLog();
  return caller([
    ...statsRoutes({ views, timeZoneOf: async (account) => ZONES[account] ?? "UTC", clock: { now: () => NOW } }),
    ...eventRoutes({
      views,
      log: memory,
      payloads: payloads(memory, randomness),
      publicUrl: () => "http://localhost",
      calls: NO_CALLS,
      personal: personalData(memory, randomness),
    }),
  ]);
};

type Served = Awaited<ReturnType<typeof served>>;

type Series = {
  readonly metric: string;
  readonly key: string | null;
  readonly rest: number;
  readonly value: number | null;
  readonly list: string | null;
  readonly points: readonly { readonly at: string; readonly value: number | null }[];
};

type Answer = { readonly from: string; readonly to: string; readonly step: string; readonly series: readonly Series[] };

const asked = async (call: Served, account: string, query: Record<string, unknown>): Promise<Answer> => {
  const { outcome, body, detail } = await call("GET", "/v1/stats", { principal: viewerOf(account), query });
  assert.is(outcome, 200, detail);
  // The route's schema describes the body.
  return body as unknown as Answer;
};

type Listed = { readonly cost_eur: number | null; readonly attempt_count: number };

const listed = async (call: Served, account: string, address: string): Promise<readonly Listed[]> => {
  const query: Record<string, unknown> = Object.fromEntries(new URL(address, "http://localhost").searchParams);
  const found: Listed[] = [];
  let total: unknown;
  for (let cursor: unknown = null; ; ) {
    const more = cursor === null ? {} : { cursor };
    const { outcome, body, detail } = await call("GET", "/v1/events", {
      principal: viewerOf(account),
      query: { ...query, limit: 20, total: "true", ...more },
    });
    assert.is(outcome, 200, detail);
    total = body.total;
    found.push(...(body.data as Listed[]));
    cursor = body.next_cursor;
    if (cursor !== null) continue;
    if (total !== undefined) assert.is(total, found.length, address);
    return found;
  }
};

const sumOf = (values: readonly (number | null)[]): number => values.reduce<number>((sum, it) => sum + (it ?? 0), 0);

const isCost = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

test("every figure of every history is the count of the list at its address", async () => {
  const metric = "admitted,blocked,held,delivered,failed,waiting,attempts,cost_eur,spent_eur,reserved_eur";
  await fc.assert(
    fc.asyncProperty(
      eventLives,
      fc.constantFrom("acc_1", "acc_2"),
      fc.constantFrom("all", "source", "agent", "endpoint", "action", "policy", "gate"),
      fc.constantFrom("1h", "1d"),
      fc.integer({ min: 0, max: 3 * DAY_S }),
      fc.integer({ min: 1, max: 2 * DAY_S }),
      async (log, account, by, step, first, length) => {
        const call = await served(log);
        const range = { from: at(first), to: at(first + length) };
        const { series } = await asked(call, account, { metric, by, step, limit: 50, ...range });
        for (const { list, value, points, metric: counted } of series) {
          assert.ok(list);
          const found = await listed(call, account, list);
          const figure = value ?? 0;
          if (counted === "attempts") assert.is(figure, sumOf(found.map((it) => it.attempt_count)), list);
          else if (counted.endsWith("_eur")) assert.ok(isCost(figure, sumOf(found.map((it) => it.cost_eur))), list);
          else assert.is(figure, found.length, `${counted} ${list}`);
          assert.ok(isCost(sumOf(points.map((point) => point.value)), figure));
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("a refused bundle is no event: its figure is of its own metric, and leads to the list of bundles", async () => {
  const log = history();
  const verdict = {
    decision: "deny",
    policy: { id: "pol_1", version: 1 },
    gates: [{ gate: "budget", outcome: "deny", code: "budget", detail: "9.00 of 10.00 EUR used today" }],
  } as const;
  log.add("bundle-bun_1", bundleFacts("bun_1").blocked({ verdict, received_at: at(60) }));
  const call = await served(log);
  const range = { from: at(0), to: at(3_600), step: "1h" };
  const figures = async (by: string, key?: string) =>
    (await asked(call, "acc_1", { metric: "blocked,bundles_blocked", by, key, ...range })).series.map(
      ({ metric, key: of, value, list }) => [metric, of, value, metric === "blocked" ? null : list],
    );
  const listOf = (filter: string) => `/v1/bundles?${new URLSearchParams({ from: at(0), to: at(3_600) })}&${filter}`;
  for (const [by, key, filter] of [
    ["all", null, "status=blocked"],
    ["gate", "budget", "status=blocked&gate=budget"],
    ["agent", "agt_1", "status=blocked&agent_id=agt_1"],
    ["policy", "pol_1", "status=blocked&policy_id=pol_1"],
  ] as const)
    assert.equal(await figures(by), [
      ["blocked", key, 0, null],
      ["bundles_blocked", key, 1, listOf(filter)],
    ]);
  assert.equal(await figures("endpoint", "end_1"), [
    ["blocked", "end_1", 0, null],
    ["bundles_blocked", "end_1", 0, null],
  ]);
});

const withEvents = (...minutes: readonly number[]): History => {
  const log = history();
  for (const [number, minute] of minutes.entries()) {
    const id = `evt_${number}`;
    const facts = deliveryFacts(id, `end_${number}`);
    const received_at = at(minute * 60);
    log.add(`delivery-${id}`, facts.admitted({ received_at, at: received_at }));
    log.add(`delivery-${id}`, facts.delivered(minute * 60 + number + 1, received_at));
  }
  return log;
};

test("a range grows to whole buckets, of which the answer tells the ends", async () => {
  const call = await served(withEvents(0));
  const query = { metric: "delivered", step: "1h", from: at(1_800), to: at(3_601) };
  const { from, to, series } = await asked(call, "acc_1", query);
  assert.equal({ from, to }, { from: at(0), to: at(7_200) });
  assert.equal(series[0]?.points, [
    { at: at(0), value: 1 },
    { at: at(3_600), value: 0 },
  ]);
});

test("days begin at the midnights of the account's time zone", async () => {
  const call = await served(withEvents(0));
  const { from, to } = await asked(call, "acc_1", { step: "1d", from: at(0), to: at(1) });
  // Kathmandu is 5 h 45 min ahead of UTC.
  assert.equal({ from, to }, { from: "2026-02-28T18:15:00.000Z", to: "2026-03-01T18:15:00.000Z" });
});

test("the largest series come first, and the others are one more, so that nothing is missing", async () => {
  const call = await served(withEvents(0, 1, 2, 3));
  const { series } = await asked(call, "acc_1", {
    metric: "delivered",
    by: "endpoint",
    step: "1h",
    limit: 2,
    from: at(0),
    to: at(60),
  });
  assert.equal(
    series.map(({ key, rest, value, list }) => ({ key, rest, value, isListed: list !== null })),
    [
      { key: "end_0", rest: 0, value: 1, isListed: true },
      { key: "end_1", rest: 0, value: 1, isListed: true },
      { key: null, rest: 2, value: 2, isListed: false },
    ],
  );
});

test("a latency is that of the delivered events, and null without one", async () => {
  const call = await served(withEvents(0, 1, 2));
  const query = { metric: "latency_p50_ms,latency_p99_ms", step: "1h", from: at(0), to: at(7_200) };
  const { series } = await asked(call, "acc_1", query);
  for (const [index, ms] of [2_000, 3_000].entries())
    assert.ok(Math.abs((series[index]?.value ?? 0) - ms) <= 0.05 * ms, JSON.stringify(series[index]));
  assert.is(series[0]?.points[1]?.value, null);
});

test("another account has no part in a figure, not even by the name of a key", async () => {
  const call = await served(withEvents(0, 1));
  for (const query of [{}, { by: "endpoint", key: "end_0" }, { by: "source" }]) {
    const { series } = await asked(call, "acc_2", { metric: "delivered", from: at(0), to: at(3_600), ...query });
    assert.is(sumOf(series.map(({ value }) => value)), 0);
  }
});

test("what would be too much, or is no longer kept, is refused with what to ask for instead", async () => {
  const call = await served(withEvents(0));
  const refused = async (query: Record<string, unknown>): Promise<string> => {
    const { outcome, detail } = await call("GET", "/v1/stats", { principal: viewerOf("acc_1"), query });
    assert.is(outcome, "invalid-request");
    return detail;
  };
  assert.match(await refused({ step: "1h", from: at(0), to: at(90 * DAY_S) }), "larger step");
  assert.match(await refused({ step: "1m", from: at(0), to: at(60) }), "must not be before");
  assert.match(await refused({ from: at(60), to: at(60) }), "later than from");
  assert.match(await refused({ step: "1d", from: "1900-01-01T00:00:00Z" }), "larger step");
});

test.run();
