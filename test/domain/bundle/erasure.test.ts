import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bundleErasure } from "../../../domain/bundle/erasure.ts";
import type { BundleEvent } from "../../../domain/bundle/events.ts";
import { at, bundleFacts } from "../../support/history.ts";

const test = suite("the erasure of a bundle's payloads");

const FACTS = bundleFacts();
const ERASED: BundleEvent = {
  type: "BundlePayloadErased",
  data: { bundle_id: "bun_1", reason: "asked for", up_to: 0, at: at(9) },
};

/** What an erasure comes to behind these events. */
const decided = (...events: readonly BundleEvent[]): unknown => {
  const state = events.reduce(bundleErasure.evolve, bundleErasure.initial);
  const command = { type: "EraseBundlePayload", bundleId: "bun_1", reason: "asked for", upTo: 0, at: at(9) } as const;
  const decision = bundleErasure.decide(command, state);
  return decision.ok ? decision.events : decision.rejection;
};

test("nothing is erased before the bundle has ended", () => {
  assert.is(decided(), "absent");
  assert.is(decided(FACTS.abandoned(0)), "absent");
  assert.is(decided(FACTS.held()), "under-way");
  assert.is(decided(FACTS.held(), FACTS.released(1)), "under-way");
  assert.is(decided(FACTS.admitted(), FACTS.started(0, 1), FACTS.rollback(2)), "under-way");
});

test("a bundle that has ended in any way is erased once", () => {
  const ends = [FACTS.committed(3), FACTS.rolledBack(3), FACTS.incomplete(3, 0)];
  for (const end of ends) {
    assert.equal(decided(FACTS.admitted(), end), [ERASED]);
    assert.equal(decided(FACTS.admitted(), end, ERASED), []);
  }
  assert.equal(decided(FACTS.held(), FACTS.holdEnded(1, "expired")), [ERASED]);
  assert.equal(decided(FACTS.blocked()), [ERASED]);
});

test("a refused bundle that comes again brings its payload again", () => {
  assert.equal(decided(FACTS.blocked(), ERASED, FACTS.blocked()), [ERASED]);
  assert.is(decided(FACTS.blocked(), ERASED, FACTS.admitted()), "under-way");
});

test.run();
