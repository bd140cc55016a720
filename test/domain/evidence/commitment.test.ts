import { suite } from "uvu";
import * as assert from "uvu/assert";
import { headersId, isErasureOf, payloadId } from "../../../domain/evidence/commitment.ts";

const test = suite("commitment");

test("the record of an erasure names what was stored up to its revision, and nothing of another event", () => {
  const erased = { type: "PayloadErased", data: { event_id: "evt_1", up_to: 10 } };
  for (const id of [payloadId("evt_1", 9), headersId(payloadId("evt_1", 10))]) assert.ok(isErasureOf(id, erased), id);
  for (const id of [
    payloadId("evt_1", 11),
    headersId(payloadId("evt_1", 100)),
    payloadId("evt_11", 1),
    "per_1",
    "evt_1",
  ])
    assert.not(isErasureOf(id, erased), id);
  const empty = { type: "PayloadErased", data: { event_id: "evt_1", up_to: null } };
  assert.not(isErasureOf(payloadId("evt_1", 0), empty));
  const bundle = { type: "BundlePayloadErased", data: { bundle_id: "bun_1", up_to: 0 } };
  assert.ok(isErasureOf(payloadId("bun_1", 0), bundle));
  assert.ok(isErasureOf("per_1", { type: "PersonalDataErased", data: { id: "per_1" } }));
  assert.not(isErasureOf("per_2", { type: "PersonalDataErased", data: { id: "per_1" } }));
  assert.not(isErasureOf(payloadId("evt_1", 0), { type: "AttemptFailed", data: { event_id: "evt_1", up_to: 1 } }));
});

test.run();
