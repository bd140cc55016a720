import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../../domain/account/plans.ts";
import { openedWith, type Subscription } from "../../../../domain/account/subscription.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { sources } from "../../../../projections/sources.ts";
import { usage, usageId } from "../../../../projections/usage.ts";
import { providerCatalogue } from "../../../../src/providers/catalogue.ts";
import { capabilityRoutes } from "../../../../src/routes/accounts/capabilities.ts";
import { billingRoutes } from "../../../../src/routes/billing/billing.ts";
import { caller } from "../../../support/call.ts";
import { START } from "../../../support/history.ts";

const test = suite("billing and capabilities");
const PRINCIPAL = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" } as const;

const summaryOf = async (plan: keyof typeof PLANS, events: number, over: Partial<Subscription> = {}) => {
  const views = memoryViewStore([usage.schema, sources.schema]);
  const used = { account: "acc_1", month: "2026-03", events, blocked: 7, observed: 0 };
  await views.commit(usage.schema.name, null, "1", { documents: new Map([[usageId("acc_1", "2026-03"), used]]) });
  const two = ["src_1", "src_2"].map((id) => [id, { account: "acc_1", created_at: "" }] as const);
  await views.commit(sources.schema.name, null, "1", {
    documents: new Map([...two, ["src_3", { account: "acc_2", created_at: "" }]]),
  });
  const clock = { now: () => START };
  const subscriptionOf = async () => ({ ...openedWith(plan), ...over });
  const call = caller(billingRoutes({ views, clock, subscriptionOf, provider: "manual" }));
  return (await call("GET", "/v1/billing/summary", { principal: PRINCIPAL })).body;
};

test("the summary adds the overage to the plan's price, over the calendar month", async () => {
  assert.equal(await summaryOf("starter", 75_001), {
    plan: "starter",
    price_eur_month: 19,
    status: "active",
    scheduled_change: null,
    period: { start: "2026-03-01T00:00:00.000Z", end: "2026-04-01T00:00:00.000Z" },
    usage: {
      events: 75_001,
      blocked: 7,
      included: 25_000,
      overage_blocks: 3,
      overage_eur: 36,
      sources: 2,
      sources_included: 5,
      // A plan's word for a source.
      endpoints: 2,
      endpoints_included: 5,
    },
    estimated_total_eur: 55,
    provider: "manual",
  });
});

test("the summary says what is scheduled, how it stands with the provider, and includes what the month's largest plan does", async () => {
  const scheduled = { plan: "free", from: "2026-04-01T00:00:00.000Z" };
  const largest = { "2026-03": "core" };
  const over = { scheduled, largest, status: "past_due", provider: "stripe", reported: { "2026-03": 1 } } as const;
  const body = await summaryOf("starter", 30_000, over);
  assert.equal(body.scheduled_change, scheduled);
  assert.equal([body.status, body.provider, body.estimated_total_eur], ["past_due", "stripe", 31]);
  const { included, overage_blocks } = body.usage as Record<string, unknown>;
  assert.equal([included, overage_blocks], [100_000, 1]);

  const past = await summaryOf("core", 0, { scheduled: { plan: "free", from: "2026-03-01T00:00:00.000Z" } });
  assert.equal([past.plan, past.scheduled_change], ["free", null]);
});

test("capabilities are the plan's volumes and what this service really does", async () => {
  const providers = providerCatalogue();
  const deps = { planOf: async () => ({ plan: PLANS.free }), providers, maxPayloadBytes: 983_040 };
  const { body } = await caller(capabilityRoutes(deps))("GET", "/v1/capabilities", { principal: PRINCIPAL });
  assert.equal(body.limits, {
    events_per_month: 1_000,
    endpoints: 1,
    sources: 1,
    ...PLANS.free.counts,
    retention_days: 3,
    max_payload_bytes: 983_040,
    stored_bytes_day: 100_000_000,
    refused_bytes_day: 10_000_000,
    refused_records_day: 2_000,
    change_bytes_day: 20_000_000,
    large_body_bytes_per_s: 262_144,
    api_rate_per_minute: 600,
    api_rate_per_minute_account: 1_800,
  });
  assert.equal(body.providers, providers);
  assert.ok((body.gates as string[]).includes("budget"));
});

test.run();
