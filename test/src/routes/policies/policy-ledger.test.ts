import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PublishedPolicy } from "../../../../domain/policy/decider.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { policyLedgerRoutes } from "../../../../src/routes/policies/policy-ledger.ts";
import type { Aggregates } from "../../../../src/streams/aggregates.ts";
import { caller } from "../../../support/call.ts";

const test = suite("the ledger of a policy");
const POLICY_ID = `pol_${"a".repeat(32)}`;
const principal: Principal = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };
const published: PublishedPolicy = {
  phase: "published",
  policyId: POLICY_ID,
  account: "acc_1",
  version: 3,
  definition: { name: "p", budget_eur_day: 0.3, loop: { max_per_run: 5 } },
  createdBy: "key_1",
  createdAt: "2026-05-05T00:00:00.000Z",
};

const asked: string[] = [];
const call = caller(
  policyLedgerRoutes({
    aggregates: { load: async () => ({ state: published, revision: 0 }) } as unknown as Aggregates,
    ledgers: {
      figures: async (stream) => {
        asked.push(stream);
        return { reserved: 100_000, settled: 250_000, overrun: 50_000, open: 1, spent: 2 };
      },
    },
    timeZoneOf: async () => "Pacific/Auckland",
    // Already the 6th there.
    clock: { now: () => Date.parse("2026-05-05T12:00:00Z") },
  }),
);
const PATH = "/v1/policies/{id}/ledger";

test("today in the account's time zone, in euros, with the limits in force", async () => {
  const { outcome, body } = await call("GET", PATH, { principal, params: { id: POLICY_ID } });
  assert.is(outcome, 200);
  assert.equal(asked.splice(0), [`ledger-${POLICY_ID}-2026-05-06`]);
  assert.equal(body, {
    policy_id: POLICY_ID,
    day: "2026-05-06",
    time_zone: "Pacific/Auckland",
    reserved_eur: 0.1,
    settled_eur: 0.25,
    overrun_eur: 0.05,
    available_eur: -0.05,
    requests: { reserved: 1, settled: 2 },
    limits: { version: 3, budget_eur_day: 0.3, rate_per_minute: null, loop: { max_per_run: 5 } },
  });
});

test("any day that there is, and none that there is not", async () => {
  const on = async (day: string) =>
    (await call("GET", PATH, { principal, params: { id: POLICY_ID }, query: { day } })).outcome;
  assert.is(await on("2024-02-29"), 200);
  assert.equal(asked.splice(0), [`ledger-${POLICY_ID}-2024-02-29`]);
  for (const day of ["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31"])
    assert.is(await on(day), "invalid-request", day);
  assert.equal(asked, []);
});

test("another account's policy has none, nor what is no id", async () => {
  const other = { ...principal, account: "acc_2" };
  for (const [who, id] of [
    [other, POLICY_ID],
    [principal, "pol_x"],
  ] as const)
    assert.is((await call("GET", PATH, { principal: who, params: { id } })).outcome, "not-found");
  assert.equal(asked, []);
});

test.run();
