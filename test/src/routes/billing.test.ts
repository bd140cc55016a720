import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { sources } from "../../../projections/sources.ts";
import { usage, usageId } from "../../../projections/usage.ts";
import { providerCatalogue } from "../../../src/providers/catalogue.ts";
import { billingRoutes, overageBlocks } from "../../../src/routes/billing.ts";
import { capabilityRoutes } from "../../../src/routes/capabilities.ts";
import { caller } from "../../support/call.ts";
import { START } from "../../support/history.ts";

const test = suite("billing and capabilities");
const PRINCIPAL = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" } as const;

const summaryOf = async (plan: keyof typeof PLANS, events: number) => {
  const views = memoryViewStore([usage.schema, sources.schema]);
  const used = { account: "acc_1", month: "2026-03", events, blocked: 7, observed: 0 };
  await views.commit(usage.schema.name, null, "1", new Map([[usageId("acc_1", "2026-03"), used]]));
  const two = ["src_1", "src_2"].map((id) => [id, { account: "acc_1", created_at: "" }] as const);
  await views.commit(
    sources.schema.name,
    null,
    "1",
    new Map([...two, ["src_3", { account: "acc_2", created_at: "" }]]),
  );
  const clock = { now: () => START };
  const call = caller(billingRoutes({ views, clock, planOf: async () => ({ plan: PLANS[plan] }) }));
  return (await call("GET", "/v1/billing/summary", { principal: PRINCIPAL })).body;
};

test("overage is paid for each begun block of 25,000, and never on the free plan", () => {
  const { starter, free } = PLANS;
  const blocks = [0, 25_000, 25_001, 50_000, 50_001].map((events) => overageBlocks(starter, events));
  assert.equal(blocks, [0, 0, 1, 1, 2]);
  assert.is(overageBlocks(free, 5_000), 0);
});

test("the summary adds the overage to the plan's price, over the calendar month", async () => {
  assert.equal(await summaryOf("starter", 75_001), {
    plan: "starter",
    price_eur_month: 19,
    status: "active",
    period: { start: "2026-03-01T00:00:00.000Z", end: "2026-04-01T00:00:00.000Z" },
    usage: {
      events: 75_001,
      blocked: 7,
      included: 25_000,
      overage_blocks: 3,
      overage_eur: 36,
      endpoints: 2,
      endpoints_included: 5,
    },
    estimated_total_eur: 55,
    provider: "manual",
  });
});

test("capabilities are the plan's volumes and what this service really does", async () => {
  const providers = providerCatalogue();
  const deps = { planOf: async () => ({ plan: PLANS.free }), providers, maxPayloadBytes: 983_040 };
  const { body } = await caller(capabilityRoutes(deps))("GET", "/v1/capabilities", { principal: PRINCIPAL });
  assert.equal(body.limits, {
    events_per_month: 1_000,
    endpoints: 1,
    retention_days: 3,
    max_payload_bytes: 983_040,
    api_rate_per_minute: 600,
  });
  assert.equal(body.providers, providers);
  assert.ok((body.gates as string[]).includes("budget"));
});

test.run();
