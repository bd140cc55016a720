import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleEvent, BundleRequest } from "../../domain/bundle/events.ts";
import { dayIn } from "../../domain/calendar.ts";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import { denialIn } from "../../projections/gate-denials.ts";
import { binOf, durationOf, FINE_BITS, sizeOf } from "../../projections/histogram.ts";
import { EVENT_STATUSES } from "../../projections/schemas/events.ts";
import { stats } from "../../projections/stats.ts";
import { withZone, zoneAt } from "../../projections/stats-event.ts";
import { PASSED, PLACES, type StatsBucket, UNFINISHED } from "../../projections/stats-totals.ts";
import { eventLives } from "../support/event-lives.ts";
import { at, bundleFacts, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("stats");

const documents = <D>(all: Record<string, unknown>): readonly D[] => Object.values(all) as D[];

const bucketsOf = (all: Record<string, unknown>): readonly StatsBucket[] =>
  documents<StatsBucket>(all).filter((it) => "series" in it);

const ZONES: Readonly<Record<string, string>> = { acc_1: "Asia/Kathmandu", acc_2: "UTC" };

const keyOf = (event: EventDocument, by: StatsBucket["by"]): string | null | undefined => {
  if (by === "all") return "";
  if (by === event.origin_kind) return event.origin_id;
  if (by === "endpoint") return event.endpoint_id;
  if (by === "action") return event.origin_kind === "agent" ? event.type : null;
  if (by === "policy") return event.verdict.policy?.id;
  return by === "gate" && event.status === "blocked" ? denialIn(event.verdict)?.gate : null;
};

const startOf = (event: EventDocument, step: StatsBucket["step"]): string => {
  if (step === "day") return `${dayIn(ZONES[event.account] ?? "", Date.parse(event.received_at))}T00:00:00.000Z`;
  return step === "hour" ? `${event.received_at.slice(0, 13)}:00:00.000Z` : `${event.received_at.slice(0, 16)}:00.000Z`;
};

const isIn = (bucket: StatsBucket, event: EventDocument): boolean =>
  event.account === bucket.account &&
  event.origin_kind !== "system" &&
  keyOf(event, bucket.by) === bucket.key &&
  startOf(event, bucket.step) === bucket.at;

test("every bucket of every history has the numbers, attempts and costs of the events that it is about", () => {
  fc.assert(
    fc.property(eventLives, fc.integer({ min: 1, max: 60 }), (log, pageSize) => {
      const all = documents<EventDocument>(folded(events, log.events, pageSize).all()).filter((it) => "timeline" in it);
      const buckets = bucketsOf(folded(stats, log.events, pageSize).all());
      for (const bucket of buckets) {
        const own = all.filter((event) => isIn(bucket, event));
        for (const status of EVENT_STATUSES)
          assert.is(
            bucket[status] ?? 0,
            own.filter((event) => event.status === status).length,
            `${bucket.series} ${status}`,
          );
        assert.is(
          bucket.attempts ?? 0,
          own.reduce((sum, event) => sum + event.attempts.length, 0),
        );
        const passed = own.filter((event) => PASSED.has(event.status));
        assert.is(
          bucket.cost ?? 0,
          passed.reduce((sum, event) => sum + (event.cost ?? 0), 0),
        );
        const costOf = (its: readonly EventDocument[]) => its.reduce((sum, event) => sum + (event.cost ?? 0), 0);
        assert.is(bucket.reserved ?? 0, costOf(own.filter((event) => UNFINISHED.has(event.status))));
        assert.is(bucket.spent ?? 0, costOf(passed.filter((event) => !UNFINISHED.has(event.status))));
        assert.is(sizeOf(bucket.latency ?? []), bucket.delivered ?? 0);
      }
      const days = buckets.filter(({ by, step }) => by === "all" && step === "day");
      const counted = days.flatMap((day) => EVENT_STATUSES.map((status) => day[status] ?? 0));
      assert.is(
        counted.reduce((sum, it) => sum + it, 0),
        all.filter(({ origin_kind }) => origin_kind !== "system").length,
      );
    }),
    { numRuns: 60 },
  );
});

test("a history folded in pages of any size gives the same sums", () => {
  fc.assert(
    fc.property(eventLives, fc.integer({ min: 2, max: 90 }), (log, pageSize) => {
      const oneByOne = folded(stats, log.events, 1).all();
      assert.equal(folded(stats, log.events, pageSize).all(), oneByOne);
    }),
    { numRuns: 60 },
  );
});

test("a refused bundle is counted by its agent, policy and gate, and no more once it is admitted or held", () => {
  const verdict: BundleRequest["verdict"] = {
    decision: "deny",
    policy: { id: "pol_1", version: 1 },
    gates: [{ gate: "budget", outcome: "deny", code: "budget", detail: "9.00 of 10.00 EUR used today" }],
  };
  const facts = bundleFacts("bun_1");
  const first = [facts.blocked({ verdict, received_at: at(30) }), facts.blocked({ verdict, received_at: at(90) })];
  const counted = (more: readonly BundleEvent[], pageSize: number): readonly string[] => {
    const log = history();
    for (const fact of [...first, ...more]) log.add("bundle-bun_1", fact);
    return bucketsOf(folded(stats, log.events, pageSize).all())
      .filter(({ step, bundles_blocked: count = 0 }) => step === "minute" && count > 0)
      .map(({ by, key, at: start, bundles_blocked: count, blocked }) => `${by} ${key} ${start} ${count} ${blocked}`)
      .sort();
  };
  for (const pageSize of [1, 50]) {
    assert.equal(counted([], pageSize), [
      `agent agt_1 ${at(0)} 1 undefined`,
      `all  ${at(0)} 1 undefined`,
      `gate budget ${at(0)} 1 undefined`,
      `policy pol_1 ${at(0)} 1 undefined`,
    ]);
    for (const more of [[facts.admitted({ received_at: at(120) }), facts.started(0, 121)], [facts.held()]])
      assert.equal(counted(more, pageSize), []);
  }
});

test("what an undo gives back is not spent, and a step counts no less once its bundle has ended", () => {
  const [event, undo] = [deliveryFacts("evt_bun_1_0"), bundleFacts("bun_1")];
  const bundle = { id: "bun_1", index: 0, undo: false };
  const origin = { kind: "agent", id: "agt_1", name: "bot", type: "agent" } as const;
  const step: DeliveryEvent = {
    type: "BundleStepEnded",
    data: { event_id: "evt_bun_1_0", bundle, outcome: "succeeded", cost: 10_000, at: at(2) },
  };
  const done = [event.admitted({ origin, bundle, cost: 10_000 }), event.started(1, 1), event.succeeded(1, 2)];
  const told = (more: readonly BundleEvent[], pageSize: number) => {
    const log = history();
    for (const fact of [...done, event.delivered(2), step]) log.add("delivery-evt_bun_1_0", fact);
    for (const fact of more) log.add("bundle-bun_1", fact);
    const all = folded(stats, log.events, pageSize).all();
    const [day] = bucketsOf(all).filter(({ by, step: length }) => by === "agent" && length === "day");
    const [document] = documents<EventDocument>(folded(events, log.events, pageSize).all()).filter(
      (it) => "timeline" in it,
    );
    return { spent: day?.spent ?? 0, cost: document?.cost, isKept: "evt_bun_1_0" in all };
  };
  for (const pageSize of [1, 50]) {
    const [undone, ended] = [undo.undone(0, 3, "compensated", 0, "evt_bun_1_0"), undo.spent(4, 0, [0])];
    assert.equal(told([], pageSize), { spent: 10_000, cost: 10_000, isKept: true });
    assert.equal(told([undone], pageSize), { spent: 0, cost: 0, isKept: true });
    assert.equal(told([undone, ended], pageSize), { spent: 0, cost: 0, isKept: false });
    assert.equal(told([undo.spent(4, 10_000, [10_000])], pageSize), { spent: 10_000, cost: 10_000, isKept: false });
    const failed = undo.undone(0, 3, "failed");
    assert.equal(told([failed, ended], pageSize), { spent: 10_000, cost: 10_000, isKept: false });
  }
});

test("an event that cannot change leaves no document but its sums", () => {
  const log = history();
  const facts = deliveryFacts("evt_1");
  for (const fact of [facts.admitted(), facts.started(1, 1), facts.succeeded(1, 2), facts.delivered(2)])
    log.add("delivery-evt_1", fact);
  const ids = Object.keys(folded(stats, log.events, 1).all());
  assert.ok(ids.length > 0);
  assert.ok(ids.every((id) => id.startsWith("acc_1/")));
});

test("a minute's place is taken by the minute 48 hours later, and what happens to the older events is not counted there", () => {
  const log = history();
  const add = (id: string, minutes: number) => {
    const received_at = at(minutes * 60);
    log.add(`delivery-${id}`, deliveryFacts(id).admitted({ received_at, at: received_at }));
  };
  add("evt_1", 0);
  add("evt_2", PLACES.minute);
  log.add("delivery-evt_1", deliveryFacts("evt_1").failed(PLACES.minute * 60));
  const all = bucketsOf(folded(stats, log.events, 1).all()).filter(({ by, step }) => by === "all" && step === "minute");
  assert.equal(
    all.map(({ at: start, queued, failed }) => ({ start, queued, failed })),
    [{ start: at(PLACES.minute * 60), queued: 1, failed: undefined }],
  );
});

test("an event counts on the day of the account's zone at its record, also after a crash that left the account ahead", () => {
  const log = history();
  const late = "2026-03-01T23:30:00.000Z";
  const admit = (id: string) => log.add(`delivery-${id}`, deliveryFacts(id).admitted({ received_at: late, at: late }));
  log.add("account-acc_1", {
    type: "AccountOpened",
    data: { account: "acc_1", name: "shop", plan: "free", time_zone: "UTC", at: at(0) },
  });
  const changed = (changes: JsonObject) =>
    log.add("account-acc_1", { type: "AccountChanged", data: { account: "acc_1", changes, at: at(1) } });
  const before = admit("evt_1");
  const moved = changed({ time_zone: "Europe/Berlin" });
  changed({ name: "Shop Two" });
  admit("evt_2");
  const days = (all: Record<string, unknown>) =>
    bucketsOf(all)
      .filter(({ by, step }) => by === "all" && step === "day")
      .map(({ at: start, queued }) => [start.slice(0, 10), queued]);
  const expected = [
    ["2026-03-01", 1],
    ["2026-03-02", 1],
  ];
  for (const pageSize of [1, 2, 9]) assert.equal(days(folded(stats, log.events, pageSize).all()), expected);
  const ahead = withZone({ time_zone: "UTC" }, moved.position, "Europe/Berlin");
  assert.equal(
    [before, moved].map(({ position }) => zoneAt(ahead, position)),
    ["UTC", "Europe/Berlin"],
  );
  for (let nth = 0; nth < 100; nth += 1) changed({ time_zone: nth % 2 === 0 ? "UTC" : "Europe/Berlin" });
  const zones = folded(stats, log.events, 7).all().acc_1 as { changes: unknown[] };
  assert.ok(zones.changes.length <= 20);
});

test("a latency is at most 5 % off", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (ms) => {
      const shown = durationOf(binOf(ms, FINE_BITS), FINE_BITS);
      assert.ok(Math.abs(shown - ms) <= 0.05 * ms, `${ms} is shown as ${shown}`);
    }),
  );
});

test.run();
