import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deliveryQueue, type QueueDocument } from "../../projections/delivery-queue.ts";
import { at, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("delivery queue");
const facts = deliveryFacts();

const after = (...past: Parameters<ReturnType<typeof history>["add"]>[1][]): QueueDocument | null => {
  const log = history();
  for (const fact of past) log.add("delivery-evt_1", fact);
  return folded(deliveryQueue, log.events).get<QueueDocument>("evt_1");
};

test("an admitted event is due at once; without an endpoint nothing waits", () => {
  assert.equal(after(facts.admitted()), {
    event_id: "evt_1",
    account: "acc_1",
    endpoint_id: "end_1",
    admitted_at: at(0),
    due_at: at(0),
    attempts: 0,
    node: null,
    lease_until: null,
    failed_at: null,
    pressing_at: null,
    position: "0000000000000001",
    revision: 0,
  });
  assert.is(after(facts.admitted({ endpoint_id: null })), null);
  assert.is(after(facts.blocked()), null);
});

test("during an attempt it is due when the lease ends, between attempts when the next one is", () => {
  const leased = after(facts.admitted(), facts.started(1, 1));
  assert.equal(
    [leased?.due_at, leased?.lease_until, leased?.node, leased?.attempts, leased?.revision],
    [at(31), at(31), "node_1", 1, 1],
  );
  const waiting = after(facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, at(7)));
  assert.equal([waiting?.due_at, waiting?.lease_until, waiting?.node, waiting?.attempts], [at(7), null, null, 1]);
  assert.equal([leased?.failed_at, waiting?.failed_at], [null, at(2)]);
  const again = after(facts.admitted(), facts.started(1, 1), facts.attemptFailed(1, 2, at(7)), facts.started(2, 7));
  assert.equal([again?.failed_at, again?.position], [null, leased?.position]);
});

test("pressing deliveries are found by endpoint: an undo until an attempt has failed, and a cancelled delivery", () => {
  const [undo, step] = [true, false].map((it) => facts.admitted({ bundle: { id: "bun_1", index: 0, undo: it } }));
  assert.ok(undo !== undefined && step !== undefined);
  const started = facts.started(1, 1);
  assert.equal(
    [after(step), after(undo), after(undo, started), after(undo, started, facts.attemptFailed(1, 2, at(7)))].map(
      (document) => document?.pressing_at,
    ),
    [null, "end_1", "end_1", null],
  );
  assert.is(after(step, started, facts.cancelling(2))?.pressing_at, "end_1");
});

test("counts and erasures move the revision that the next attempt expects", () => {
  assert.is(after(facts.admitted(), facts.duplicates(1, 1), facts.erased(2))?.revision, 2);
});

test("a delivered or failed event does not wait, even if more is recorded later", () => {
  const start = [facts.admitted(), facts.started(1, 1)] as const;
  assert.is(after(...start, facts.succeeded(1, 2), facts.delivered(2), facts.duplicates(1, 3)), null);
  assert.is(after(...start, facts.attemptFailed(1, 2, null)), null);
  assert.is(after(facts.admitted(), facts.failed(1)), null);
});

test("a blocked event that is admitted later is queued with its stream's revision", () => {
  assert.is(after(facts.blocked(), facts.admitted())?.revision, 1);
});

test("a held event is not due; it is due once released, and removed if cancelled", () => {
  assert.is(after(facts.held()), null);
  assert.is(after(facts.held(), facts.holdEnded(5, "expired")), null);
  const released = after(facts.held(), facts.released(60));
  assert.equal(
    [released?.due_at, released?.admitted_at, released?.endpoint_id, released?.attempts, released?.revision],
    [at(60), at(60), "end_1", 0, 1],
  );
  assert.is(after(facts.held(), facts.released(60, "apr_1", null)), null);
  assert.is(after(facts.held(), facts.released(60), facts.cancelled(61)), null);
  const cancelling = after(facts.admitted(), facts.started(1, 1), facts.cancelling(2));
  assert.equal([cancelling?.lease_until, cancelling?.revision], [at(31), 2]);
  assert.is(
    after(
      facts.admitted(),
      facts.started(1, 1),
      facts.cancelling(2),
      facts.attemptFailed(1, 3, null),
      facts.cancelled(3, 1),
    ),
    null,
  );
});

test.run();
