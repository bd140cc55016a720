import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AccountFacets } from "../../projections/account-facets.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import { at, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("events view");
const STREAM = "delivery-evt_1";
const facts = deliveryFacts();

const after = (...past: Parameters<ReturnType<typeof history>["add"]>[1][]): EventDocument => {
  const log = history();
  for (const fact of past) log.add(STREAM, fact);
  const document = folded(events, log.events).get<EventDocument>("evt_1");
  assert.ok(document);
  return document;
};
const stages = ({ timeline }: EventDocument) => timeline.map(({ stage }) => stage);
const DECIDED = ["received", "authenticated", "gated"];

test("an admitted event is queued, and without an endpoint recorded", () => {
  const queued = after(facts.admitted());
  assert.is(queued.status, "queued");
  assert.equal(stages(queued), [...DECIDED, "admitted"]);
  assert.equal(
    [queued.origin_id, queued.endpoint_id, queued.cost, queued.delivery_id],
    ["src_1", "end_1", 20_000, "evt_stripe"],
  );
  assert.is(after(facts.admitted({ endpoint_id: null })).status, "recorded");
});

test("an event is delivering, retrying and delivered, with its attempts", () => {
  const first = [facts.admitted(), facts.started(1, 1)] as const;
  assert.is(after(...first).status, "delivering");
  const retrying = after(...first, facts.attemptFailed(1, 2, at(7)));
  assert.is(retrying.status, "retrying");
  assert.is(retrying.attempts[0]?.failure?.kind, "http-5xx");
  assert.is(retrying.attempts[0]?.next_attempt_at, at(7));

  const delivered = after(
    ...first,
    facts.attemptFailed(1, 2, at(7)),
    facts.started(2, 7),
    facts.succeeded(2, 8),
    facts.delivered(8),
  );
  assert.is(delivered.status, "delivered");
  assert.equal(
    delivered.attempts.map(({ number, outcome, status_code }) => [number, outcome, status_code]),
    [
      [1, "failed", 503],
      [2, "succeeded", 200],
    ],
  );
  assert.equal(stages(delivered), [...DECIDED, "admitted", "attempt", "attempt", "delivered"]);
});

test("after the last attempt, or without any, an event is failed and says why", () => {
  const failed = after(facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2));
  assert.is(failed.status, "failed");
  assert.is(failed.failure?.kind, "http-5xx");
  assert.is(stages(failed).at(-1), "failed");
  assert.is(after(facts.admitted(), facts.failed(2)).status, "failed");
});

test("an attempt without a recorded end is unknown once the next one starts, and its late success counts", () => {
  const lost = [facts.admitted(), facts.started(1, 1), facts.started(2, 40)] as const;
  assert.equal(
    after(...lost).attempts.map(({ outcome }) => outcome),
    ["unknown", "running"],
  );
  const late = after(...lost, facts.succeeded(1, 41), facts.delivered(41));
  assert.equal([late.status, late.attempts[0]?.outcome], ["delivered", "succeeded"]);
});

test("a blocked event that is sent again and admitted keeps its place, its first decision and its counts", () => {
  const admitted = after(
    facts.blocked({ received_at: at(0), at: at(0) }),
    facts.duplicates(2, 5),
    facts.admitted({ received_at: at(60), authenticated_at: at(60), at: at(61) }),
  );
  assert.equal(
    [admitted.status, admitted.received_at, admitted.duplicates, admitted.decisions],
    ["queued", at(0), 2, 2],
  );
  assert.equal(stages(admitted), [...DECIDED, "blocked", ...DECIDED, "admitted"]);
  assert.is(admitted.verdict.decision, "allow");
});

test("however often a blocked event comes again, the document stays small", () => {
  const often = after(...Array.from({ length: 40 }, (_, i) => facts.blocked({ received_at: at(i), at: at(i) })));
  assert.is(often.decisions, 40);
  assert.is(often.timeline.length, 8);
  assert.equal(often.timeline.at(-1), { stage: "blocked", at: at(39) });
});

test("for an event with many attempts the first and the last attempts and stages are shown, and the number between", () => {
  const tried = (count: number): EventDocument =>
    after(
      facts.admitted(),
      ...Array.from({ length: count }, (_, i) => [
        facts.started(i + 1, i),
        facts.attemptFailed(i + 1, i, at(i + 1)),
      ]).flat(),
    );
  const few = tried(106);
  assert.equal([few.attempts.length, few.attempts_left_out, few.stages_left_out], [106, undefined, undefined]);
  assert.is(few.timeline.length, 110);
  const many = tried(400);
  assert.equal([many.attempts.length, many.attempts_left_out], [110, 290]);
  assert.equal([many.attempts[9]?.number, many.attempts[10]?.number, many.attempts.at(-1)?.number], [10, 301, 400]);
  assert.equal([many.timeline.length, many.stages_left_out], [110, 294]);
  assert.is(many.attempts.at(-1)?.outcome, "failed");
});

test("replayable events are found as such while there is something to send", () => {
  const failed = [facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2)];
  assert.is(after(...failed).replayable, "failed");
  assert.is(after(facts.blocked()).replayable, "blocked");
  assert.is(after(...failed, facts.erased(3)).replayable, undefined);
  assert.is(after(facts.blocked(), facts.admitted()).replayable, undefined);
  const bundle = { id: "bun_1", index: 0, undo: false };
  assert.is(after(facts.admitted({ bundle }), ...failed.slice(1)).replayable, undefined);
});

test("repeats are added up and an erasure is shown", () => {
  const reused = { type: "DeliveryIdReused", data: { event_id: "evt_1", count: 4, at: at(4) } } as const;
  const document = after(facts.admitted(), facts.duplicates(2, 2), facts.duplicates(3, 3), reused, facts.erased(9));
  assert.equal([document.duplicates, document.reused, document.payload.erased_at], [5, 4, at(9)]);
  assert.equal(
    document.timeline.slice(DECIDED.length + 1).map(({ stage, count, last_at }) => [stage, count, last_at]),
    [
      ["duplicate", 5, at(3)],
      ["delivery_id_reused", 4, document.timeline.at(-2)?.at],
      ["payload_erased", undefined, undefined],
    ],
  );
  assert.is(stages(document).at(-1), "payload_erased");
});

test("an event of a bundle names its bundle and step, and says whether it is the undo", () => {
  const bundle = { id: "bun_1", index: 2, undo: true };
  const ended = { event_id: "evt_1", bundle, outcome: "succeeded", cost: 0, at: at(3) } as const;
  const document = after(facts.admitted({ bundle }), { type: "BundleStepEnded", data: ended });
  assert.equal([document.bundle, document.status], [bundle, "queued"]);
  assert.not("bundle" in after(facts.admitted()));
});

test("what had no cost still has none when it ends, unless one is reported", () => {
  const about = { event_id: "evt_1", ledgers: [], estimate: null, at: at(3) };
  const ended = (basis: string, cost: number | null, before: number | null = null) =>
    after(facts.admitted({ cost: before }), { type: "CostDetermined", data: { ...about, basis, cost } }).cost;
  assert.equal([ended("estimate", 0), ended("not-reached", null), ended("reported", 300)], [null, null, 300]);
  assert.equal([ended("estimate", 20_000, 20_000), ended("not-reached", null, 20_000)], [20_000, 0]);
  const bundle = { id: "bun_1", index: 2, undo: true };
  const step = (cost: number | null, before: number | null) => {
    const data = { event_id: "evt_1", bundle, outcome: "succeeded", cost, at: at(3) } as const;
    return after(facts.admitted({ bundle, cost: before }), { type: "BundleStepEnded", data }).cost;
  };
  assert.equal([step(0, null), step(null, null), step(500, null), step(null, 500)], [null, null, 500, 0]);
});

test("unknown records, and records of no decided event, change nothing", () => {
  const known = after(facts.admitted());
  assert.equal(after(facts.admitted(), { type: "SomethingLater", data: {} }), known);
  const log = history();
  log.add(STREAM, { type: "AdmissionAbandoned", data: { event_id: "evt_1", at: at(1) } });
  log.add(STREAM, facts.started(1, 1));
  log.add(STREAM, facts.duplicates(1, 1));
  log.add("payload-evt_1", { type: "EventAdmitted", data: {} });
  log.add("ledger-acc_1-2026-03", { type: "Reserved", data: { entries: [] } });
  assert.equal(folded(events, log.events).all(), {});
});

test("the types of an account are sorted, and incomplete if there are too many", () => {
  const log = history();
  for (const type of ["b", "a", "b"]) log.add(`delivery-${log.events.length}`, facts.admitted({ type }));
  assert.equal(folded(events, log.events).get<AccountFacets>("acc_1"), {
    types: ["a", "b"],
    types_complete: true,
    origins: ["src_1"],
  });
  for (let i = 0; i < 600; i += 1) log.add(`delivery-x${i}`, facts.admitted({ type: `type.${i}` }));
  const many = folded(events, log.events, 100).get<AccountFacets>("acc_1");
  assert.equal([many?.types.length, many?.types_complete], [500, false]);
});

test("a held event names its approval, and shows how it ended", () => {
  const held = after(facts.held());
  assert.equal([held.status, held.approval_id], ["held", "apr_1"]);
  assert.equal(stages(held), [...DECIDED, "held"]);

  const released = after(facts.held(), facts.released(9));
  assert.equal([released.status, released.approval_id, released.received_at], ["queued", "apr_1", at(0)]);
  assert.equal(stages(released), [...DECIDED, "held", "approved", "admitted"]);
  assert.is(after(facts.held({}, { endpoint_id: null }), facts.released(9, "apr_1", null)).status, "recorded");
  assert.not("approval_id" in after(facts.admitted()));

  for (const outcome of ["rejected", "expired", "cancelled"] as const) {
    const ended = after(facts.held(), facts.holdEnded(9, outcome));
    assert.is(ended.status, outcome);
    assert.equal(ended.timeline.at(-1), { stage: outcome, at: at(9), reason: "said so" });
  }
});

test("a cancelled event shows the reason and the attempts before", () => {
  const queued = after(facts.admitted(), facts.cancelled(5));
  assert.is(queued.status, "cancelled");
  assert.equal(queued.timeline.at(-1), { stage: "cancelled", at: at(5), reason: "suspended" });

  const begun = [facts.admitted(), facts.started(1, 1), facts.cancelling(2)] as const;
  assert.is(after(...begun).status, "delivering");
  assert.is(after(...begun).timeline.at(-1)?.stage, "cancelling");
  const failed = after(...begun, facts.attemptFailed(1, 3, null), facts.cancelled(3, 1));
  assert.equal([failed.status, failed.attempts[0]?.outcome], ["cancelled", "failed"]);
  const lost = after(...begun, facts.cancelled(40, 1));
  assert.equal([lost.status, lost.attempts[0]?.outcome], ["cancelled", "unknown"]);
});

test.run();
