import { suite } from "uvu";
import * as assert from "uvu/assert";
import { policy } from "../../../domain/policy/decider.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { references } from "../../../src/change-control/references.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { testClock } from "../../support/http-app.ts";

/** Whether an account has what a body names. */
const test = suite("references");

const AT = "2026-03-01T12:00:00.000Z";
const POLICY = derivedId("pol_", "a");

const known = async () => {
  const streams = aggregates(memoryEventLog(), testClock());
  const envelope = {
    commandId: "cmd_1",
    account: "acc_a",
    actor: { kind: "system", id: "test" },
    trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
    at: AT,
  } as const;
  await streams.handle(
    policy,
    `policy-${POLICY}`,
    { type: "PublishPolicy", policyId: POLICY, account: "acc_a", definition: { name: "p" }, by: "key_a", at: AT },
    envelope,
  );
  return references(streams);
};

test("an account finds only its own endpoints and policies", async () => {
  const { policyExists } = await known();
  assert.is(await policyExists("acc_a", POLICY), true);
  assert.is(await policyExists("acc_b", POLICY), false);
  assert.is(await policyExists("acc_a", derivedId("pol_", "b")), false);
});

for (const id of ["", "\0", "a\nb", "x".repeat(600), " ", `${POLICY}\n`]) {
  test(`nothing is found for a text that is no id: ${JSON.stringify(id.slice(0, 40))}`, async () => {
    const { endpointExists, policyExists } = await known();
    assert.is(await policyExists("acc_a", id), false);
    assert.is(await endpointExists("acc_a", id), false);
  });
}

test.run();
