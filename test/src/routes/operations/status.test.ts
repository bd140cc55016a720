import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Document } from "../../../../domain/ports/view-store.ts";
import { dayId, healthId, hourId } from "../../../../projections/status.ts";
import { type Component, statusRoutes } from "../../../../src/routes/operations/status.ts";
import { caller } from "../../../support/call.ts";
import { at, START } from "../../../support/history.ts";

const test = suite("GET /public/status/summary");

const works: Component = { name: "ingest", check: async () => "operational" };
const hour = (delivered: number, failed: number, latency: readonly number[]): Document => ({
  admitted: 1_000,
  blocked: 3,
  delivered,
  failed,
  latency,
});

const world = (documents: Record<string, Document>, components: readonly Component[] = [works]) => {
  let now = START;
  let reads = 0;
  const views = {
    async getMany(_view: string, ids: readonly string[]) {
      reads += 1;
      return new Map(ids.flatMap((id) => (documents[id] === undefined ? [] : [[id, documents[id]]])));
    },
  };
  const call = caller(statusRoutes({ views, clock: { now: () => now }, components }));
  return {
    get: () => call("GET", "/public/status/summary"),
    async page() {
      const { outcome, headers, body } = await call("GET", "/status");
      // A page is bytes.
      return { outcome, headers, text: (body as unknown as Buffer).toString() };
    },
    reads: () => reads,
    pass: (ms: number) => {
      now += ms;
    },
  };
};

test("the last day is summed, small counts are not told apart, and caches may keep it", async () => {
  const { get } = world({
    [hourId(at(0))]: hour(900, 4, [10, 900]),
    [hourId(at(-23 * 3_600))]: hour(90, 6, [11, 90]),
    [hourId(at(-24 * 3_600))]: hour(5_000, 5_000, [40, 5_000]),
  });
  const { body, headers } = await get();
  assert.equal(body.last_24h, {
    admitted: 2_000,
    blocked: "<10",
    delivered: 990,
    failed: 10,
    delivery_success_rate: 0.99,
    delivery_p50_ms: 10,
    delivery_p99_ms: 11,
  });
  assert.is(headers["cache-control"], "public, max-age=15");
  assert.is(body.updated_at, at(0));
});

test("a rate is told no finer than ten deliveries: a small count cannot be computed from it", async () => {
  const rateOf = async (delivered: number, failed: number) => {
    const { body } = await world({ [hourId(at(0))]: hour(delivered, failed, [10, delivered]) }).get();
    return (body.last_24h as { delivery_success_rate: number | null }).delivery_success_rate;
  };
  assert.is(await rateOf(95, 4), null);
  assert.is(await rateOf(195, 4), 0.9);
  assert.is(await rateOf(996, 4), 0.99);
  assert.is(await rateOf(1_000, 0), 1);
  assert.is(await rateOf(9_960, 40), 0.996);
  assert.is(await rateOf(999_996, 4), 0.9999);
});

test("the page says the same for people, without a script", async () => {
  const { page } = world({ [hourId(at(0))]: hour(900, 4, [10, 900]) }, [
    works,
    { name: "<views>", check: async () => "down" },
  ]);
  const { outcome, headers, text } = await page();
  assert.is(outcome, 200);
  assert.is(headers["content-type"], "text/html; charset=utf-8");
  assert.is(headers["cache-control"], "public, max-age=15");
  assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
  assert.not.match(text, /<script|<views>/);
  assert.match(text, /&lt;views&gt;<\/td><td class="down">/);
  assert.match(text, /<td>Deliveries that failed in the end<\/td><td>&lt;10<\/td>/);
  assert.is(text.match(/<li class="unknown"/g)?.length, 90);
});

test("from too few deliveries nothing is computed", async () => {
  const { get } = world({ [hourId(at(0))]: hour(9, 0, [10, 9]) });
  const { body } = await get();
  const { delivery_success_rate, delivery_p50_ms, delivered } = body.last_24h as Record<string, unknown>;
  assert.equal([delivery_success_rate, delivery_p50_ms, delivered], [null, null, "<10"]);
});

const looks = (over: Record<string, number>): Document => ({
  operational: 0,
  degraded: 0,
  down: 0,
  first: 0,
  last: 287,
  ...over,
});

test("90 days are shown, newest first: as the service found itself, and where nobody looked as down", async () => {
  const day = (back: number) => at(-back * 86_400);
  const { get } = world({
    [healthId(day(0))]: looks({ operational: 144 }),
    [healthId(day(1))]: looks({ operational: 280, degraded: 8 }),
    [healthId(day(2))]: looks({ operational: 286 }),
    [healthId(day(3))]: looks({ operational: 200 }),
    [healthId(day(4))]: looks({ operational: 100, down: 188 }),
    [healthId(day(6))]: looks({ operational: 28, first: 260 }),
    // Receivers that fail are no fault of the service.
    [dayId(day(0))]: { admitted: 128, blocked: 0, delivered: 19, failed: 109 },
  });
  const days = (await get()).body.days as Record<string, unknown>[];
  assert.is(days.length, 90);
  assert.equal(
    days.slice(0, 8).map(({ status, observed }) => (observed ? status : "not observed")),
    ["operational", "degraded", "operational", "degraded", "down", "down", "operational", "not observed"],
  );
  assert.equal(
    ["admitted", "delivered", "failed"].map((name) => days[0]?.[name]),
    [120, 10, 100],
  );
});

test("what does not work is shown, also when the views do not answer", async () => {
  const broken: Component = {
    name: "delivery",
    check: async () => {
      throw new Error("private detail");
    },
  };
  const degraded = await world({}, [works, broken]).get();
  assert.equal(
    [degraded.body.status, degraded.body.components],
    [
      "degraded",
      [
        { name: "ingest", status: "operational" },
        { name: "delivery", status: "down" },
      ],
    ],
  );
  assert.is((await world({}, [broken, works]).get()).body.status, "down");

  const views = { getMany: async () => Promise.reject(new Error("no views")) };
  const call = caller(statusRoutes({ views, clock: { now: () => START }, components: [works] }));
  assert.is((await call("GET", "/public/status/summary")).outcome, 200);
});

test("however often it is asked for, it is made once in 15 seconds", async () => {
  const { get, reads, pass } = world({});
  await Promise.all([get(), get(), get()]);
  pass(14_999);
  await get();
  assert.is(reads(), 1);
  pass(1);
  await get();
  assert.is(reads(), 2);
});

test.run();
