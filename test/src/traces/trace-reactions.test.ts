import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { Span } from "../../../domain/ports/span-exporter.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { spansOfEvent, traceOfBundle } from "../../../src/traces/recorded-spans.ts";
import { traceReactions } from "../../../src/traces/trace-reactions.ts";
import { appendTo, approvalFacts, bundleFacts, deliveryFacts } from "../../support/history.ts";
import { IN_TRACE, isWellFormed, ROOT_ID, spanNamed, tracedRecords } from "../../support/trace-facts.ts";

const test = suite("what is exported when something has ended");

const facts = deliveryFacts();
type Facts = Parameters<typeof tracedRecords>[1][];

/** A log with these streams, and what is exported of it record by record, as the follower of the log does it. */
const world = async (streams: Readonly<Record<string, Facts>>) => {
  const log = memoryEventLog();
  for (const [stream, own] of Object.entries(streams)) await appendTo(log, tracedRecords(stream, ...own));
  const reads: string[] = [];
  const counted: typeof log = {
    ...log,
    read(stream, after, limit) {
      reads.push(stream);
      return log.read(stream, after, limit);
    },
  };
  const exported: { readonly on: RecordedEvent["type"]; readonly spans: readonly Span[] }[] = [];
  let spans: readonly Span[] = [];
  const exporter = {
    export: async (given: readonly Span[]) => {
      spans = given;
    },
    close: async () => undefined,
  };
  const reactions = traceReactions(counted, exporter);
  for (const event of await log.readAll(null, 10_000)) {
    for (const { run } of reactions.filter(({ on }) => on === event.type)) {
      spans = [];
      await run(event);
      if (spans.length > 0) exported.push({ on: event.type, spans });
    }
  }
  return { log, reads, exported, ended: exported.map(({ on }) => on) };
};

test("nothing is exported before the end, and everything at the end", async () => {
  const delivered = [facts.admitted(), facts.started(1, 1), facts.succeeded(1, 2), facts.delivered(2)];
  const { log, exported, ended } = await world({ "delivery-evt_1": delivered });
  assert.equal(ended, ["EventDelivered"]);
  assert.equal(exported[0]?.spans, await spansOfEvent(log, "evt_1"));
});

test("an execution is exported however it ends: denied, recorded, failed, cancelled, or held and not delivered", async () => {
  const ends: readonly (readonly [Facts, string])[] = [
    [[facts.blocked()], "EventBlocked"],
    [[facts.admitted({ endpoint_id: null })], "EventAdmitted"],
    [[facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2)], "DeliveryFailed"],
    [[facts.admitted(), facts.cancelled(2)], "EventCancelled"],
    [[facts.held(), facts.holdEnded(9, "expired")], "HoldEnded"],
    [[facts.held({}, { endpoint_id: null }), facts.released(5, "apr_1", null)], "EventReleased"],
  ];
  for (const [records, end] of ends) {
    const { exported, ended } = await world({ "delivery-evt_1": records });
    assert.equal(ended, [end]);
    isWellFormed(exported[0]?.spans ?? [], 1);
  }
  assert.equal((await world({ "delivery-evt_1": [facts.held(), facts.released(5)] })).ended, []);
});

test("each denial of a repeated event is exported once, without reading the earlier ones", async () => {
  const refusals = Array.from({ length: 600 }, (_, n): Facts[number] => [
    facts.blocked(),
    { ...IN_TRACE, span_id: (n + 1).toString(16).padStart(16, "0") },
  ]);
  const held = [facts.held({ approval_id: "apr_7" }), facts.holdEnded(5, "rejected", "apr_7")];
  const approval = approvalFacts("apr_7");
  const asked = [approval.requested(), approval.voted("mem_1", "reject", 4), approval.rejected(5)];
  const { exported, reads } = await world({ "delivery-evt_1": [...refusals, ...held], "approval-apr_7": asked });
  assert.is(exported.length, 601);
  for (const { spans } of exported) isWellFormed(spans, 1);
  assert.is(new Set(exported.map(({ spans }) => spans[0]?.spanId)).size, 601);
  // Two pages of the stream and one of the approval's, for the last alone.
  assert.equal(reads, ["delivery-evt_1", "delivery-evt_1", "approval-apr_7"]);
  const hold = exported.at(-1)?.spans.find(({ name }) => name === "hold for approval");
  assert.equal([hold?.error, hold?.events.length], ["rejected", 1]);
});

test("a replay exports only its own spans", async () => {
  const failed = [facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, null), facts.failed(2)];
  const again = [facts.replayed(50), facts.started(2, 51, "replay"), facts.succeeded(2, 52), facts.delivered(52)];
  const { log, exported, ended } = await world({ "delivery-evt_1": [...failed, ...again] });
  assert.equal(ended, ["DeliveryFailed", "EventDelivered"]);
  assert.equal(
    exported[1]?.spans.map(({ name }) => name),
    ["replay", "POST"],
  );
  const all = exported.flatMap(({ spans }) => spans);
  isWellFormed(all, 1);
  assert.equal(all, await spansOfEvent(log, "evt_1"), "and as it is shown");
});

test("a replay is exported by itself however many attempts were made before it", async () => {
  const attempts = (from: number, count: number): Facts =>
    Array.from({ length: count }, (_, n) => from + n).flatMap((number) => [
      facts.started(number, number),
      facts.attemptFailed(number, number, null),
    ]);
  const failed = [facts.admitted(), ...attempts(1, 1_500), facts.failed(1_500)];
  const again = [facts.replayed(1_501), ...attempts(1_502, 2), facts.failed(1_504)];
  const { exported } = await world({ "delivery-evt_1": [...failed, ...again] });
  const names = exported.at(-1)?.spans.map(({ name, error }) => [name, error]);
  assert.equal(names, [
    ["replay", "http-5xx"],
    ["POST", "http-5xx"],
    ["POST", "http-5xx"],
  ]);
});

test("an event repeated every second for an hour has its whole trace, with some of the repeats", async () => {
  const repeats = Array.from({ length: 3_600 }, (_, n) => facts.duplicates(1, n + 1));
  const sent = [facts.started(1, 3_601), facts.succeeded(1, 3_602), facts.delivered(3_602)];
  const { log, exported } = await world({ "delivery-evt_1": [facts.admitted(), ...repeats, ...sent] });
  const [{ spans }] = exported as [(typeof exported)[number]];
  isWellFormed(spans, 1);
  const attempt = spanNamed(spans, "POST");
  assert.equal([attempt.error, attempt.attributes["http.response.status_code"]], [null, 200]);
  const [root] = spans;
  assert.is(root?.endMs, attempt.endMs);
  assert.is(root?.events.length, 100);
  assert.equal(await spansOfEvent(log, "evt_1"), spans, "and as it is shown");
});

const bundle = bundleFacts();
/** The delivery of a step or an undo. */
const carried = (id: string, undo: boolean, from: number, ok = true): Facts => {
  const own = deliveryFacts(id);
  const step = {
    origin: { kind: "agent", id: "agt_1", name: "orders", type: "agent" },
    bundle: { id: "bun_1", index: 0, undo },
  } as const;
  const end = ok ? [own.succeeded(1, from + 1), own.delivered(from + 1)] : [own.attemptFailed(1, from + 1, null)];
  return [own.admitted(step), own.started(1, from), ...end, ...(ok ? [] : [own.failed(from + 1)])];
};

test("a rolled back bundle, its steps and undos are exported as one trace", async () => {
  const { log, exported, ended } = await world({
    "delivery-evt_bun_1_0": carried("evt_bun_1_0", false, 2),
    "delivery-evt_bun_1_1": carried("evt_bun_1_1", false, 4, false),
    "delivery-evt_bun_1_0_undo": carried("evt_bun_1_0_undo", true, 6),
    "bundle-bun_1": [
      bundle.admitted(),
      ...[bundle.started(0, 2), bundle.ended(0, 3, "succeeded"), bundle.started(1, 4), bundle.ended(1, 5, "failed")],
      ...[bundle.rollback(5, 1), bundle.undoing(0, 6), bundle.undone(0, 7, "compensated"), bundle.rolledBack(7)],
    ],
  });
  assert.equal(ended, ["EventDelivered", "DeliveryFailed", "EventDelivered", "BundleRolledBack"]);
  const all = exported.flatMap(({ spans }) => spans);
  isWellFormed(all, 1);
  assert.equal(
    all.filter(({ parentId }) => parentId === ROOT_ID).map(({ attributes }) => attributes["countersign.bundle.undo"]),
    [false, false, true, undefined, undefined],
  );
  const byId = (spans: readonly Span[]) => spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
  assert.equal(byId(await traceOfBundle(log, "bun_1")), byId(all), "and as it is shown");
});

test("a bundle that gates or people denied is exported", async () => {
  assert.equal((await world({ "bundle-bun_1": [bundle.blocked()] })).ended, ["BundleBlocked"]);
  assert.equal((await world({ "bundle-bun_1": [bundle.held(), bundle.holdEnded(9, "rejected")] })).ended, [
    "BundleHoldEnded",
  ]);
});

test.run();
