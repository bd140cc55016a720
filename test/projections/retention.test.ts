import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import { retention } from "../../projections/retention.ts";
import { at, deliveryFacts, type Fact, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("what retention may take");
const is = deliveryFacts();

const after = (stream: string, past: readonly (DeliveryEvent | Fact)[]) => {
  const log = history();
  for (const fact of past) log.add(stream, fact);
  return folded(retention, log.events).all();
};

const ofEvent = (...past: readonly (DeliveryEvent | Fact)[]) => after("delivery-evt_1", past).evt_1 ?? null;

test("an event is there from its end until its payload is erased", () => {
  const delivered = [is.admitted(), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)];
  assert.equal(ofEvent(...delivered), { account: "acc_1", ended_at: at(2) });
  assert.is(ofEvent(...delivered, is.erased(9)), null);
  for (const past of [[is.admitted()], [is.held()], [is.admitted(), is.started(1, 1)], [is.held(), is.released(3)]])
    assert.is(ofEvent(...past), null);
});

test("an event that is sent again or replayed is retained until it ends again", () => {
  assert.equal(ofEvent(is.blocked()), { account: "acc_1", ended_at: at(0) });
  assert.is(ofEvent(is.blocked(), is.admitted()), null);
  const failed = [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)];
  const replayed: Fact = { type: "EventReplayed", data: { event_id: "evt_1", at: at(5) } };
  assert.is(ofEvent(...failed, replayed), null);
  assert.equal(ofEvent(...failed, replayed, is.started(2, 6), is.delivered(7)), { account: "acc_1", ended_at: at(7) });
});

test("an event that failed because its payload was erased has no payload to erase", () => {
  const failure = { kind: "payload-erased", detail: "gone" };
  const given: Fact = { type: "DeliveryFailed", data: { event_id: "evt_1", endpoint_id: "end_1", failure, at: at(9) } };
  assert.is(ofEvent(is.admitted(), is.erased(5), given), null);
});

test("a step's payload goes with its bundle's, which is there from its end", () => {
  const data = { event_id: "evt_1", bundle: { id: "bun_1", index: 0, undo: false }, outcome: "succeeded", at: at(2) };
  assert.is(ofEvent(is.admitted(), is.delivered(2), { type: "BundleStepEnded", data }), null);
  const bundle = (...types: readonly string[]) =>
    after(
      "bundle-bun_1",
      types.map((type, second) => ({ type, data: { bundle_id: "bun_1", at: at(second) } })),
    ).bun_1 ?? null;
  assert.is(bundle("BundleHeld", "BundleReleased", "StepStarted", "RollbackStarted"), null);
  assert.equal(bundle("BundleAdmitted", "BundleCommitted"), { account: "acc_1", ended_at: at(1) });
  assert.equal(bundle("BundleAdmitted", "RollbackIncomplete", "StepResolved"), { account: "acc_1", ended_at: at(2) });
  assert.is(bundle("BundleAdmitted", "BundleCommitted", "PayloadErased"), null);
});

test.run();
