import { planNamed } from "../../../domain/account/overage.ts";
import { OVERAGE_BLOCK_EUR, OVERAGE_BLOCK_EVENTS, PLANS } from "../../../domain/account/plans.ts";
import { largestIn, overageIn, planAt, type Subscription } from "../../../domain/account/subscription.ts";
import { monthEnd, monthOf } from "../../../domain/calendar.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { sources } from "../../../projections/sources.ts";
import { usage, usageId } from "../../../projections/usage.ts";
import { sourcesInUse } from "../../billing/notices.ts";
import { integer, number, object, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { documentIn } from "../../views/typed-documents.ts";

export type BillingDeps = {
  readonly views: Pick<ViewStore, "get" | "count">;
  readonly clock: Clock;
  readonly subscriptionOf: (account: string) => Promise<Subscription>;
  /** Name of the provider that is shown for an account that never had one. */
  readonly provider: string;
};

const plan: JsonSchema = { enum: Object.keys(PLANS) };
const SUMMARY = named(
  "BillingSummary",
  object({
    plan,
    price_eur_month: number,
    status: { enum: ["active", "past_due", "cancelled"] },
    scheduled_change: {
      anyOf: [object({ plan, from: time }), { type: "null" }],
      description: "The plan that follows without further action, and when; null: the present one continues",
    },
    period: object({ start: time, end: time }),
    usage: object({
      events: { type: "integer", description: "Admitted events of sources, each once" },
      blocked: { type: "integer", description: "Refused requests; they cost nothing" },
      included: { type: "integer", description: "In the largest plan of the month; the free plan stops here" },
      overage_blocks: { type: "integer", description: "Started blocks of 25,000 events beyond what is included" },
      overage_eur: number,
      sources: { type: "integer", description: "Sources in use" },
      sources_included: { type: "integer", description: "Sources that the plan includes" },
      endpoints: { type: "integer", description: "The same as `sources`: a plan's word for a source is endpoint" },
      endpoints_included: { type: "integer", description: "The same as `sources_included`" },
    }),
    estimated_total_eur: number,
    provider: { type: "string" },
  }),
);

const OFFERED = named(
  "OfferedPlans",
  object({
    overage: object({ events: integer, price_eur: number }),
    plans: {
      type: "array",
      items: named(
        "Plan",
        object({
          name: plan,
          price_eur_month: number,
          events_per_month: integer,
          endpoints: { type: "integer", description: "Sources" },
          retention_days: { type: "integer", description: "Of payloads; the audit log is kept" },
          hard_stop: { type: "boolean", description: "Whether further events are refused, in place of overage" },
        }),
      ),
    },
  }),
);

const offered = {
  overage: { events: OVERAGE_BLOCK_EVENTS, price_eur: OVERAGE_BLOCK_EUR },
  plans: Object.values(PLANS).map(({ name, priceEurMonth, eventsPerMonth, endpoints, retentionDays, hardStop }) => ({
    name,
    price_eur_month: priceEurMonth,
    events_per_month: eventsPerMonth,
    endpoints,
    retention_days: retentionDays,
    hard_stop: hardStop,
  })),
};

const summary =
  ({ views, clock, subscriptionOf, provider }: BillingDeps): Route["handle"] =>
  async ({ principal: { account } }) => {
    const now = clock.now();
    const at = new Date(now).toISOString();
    const month = monthOf(now);
    const subscription = await subscriptionOf(account);
    const { scheduled } = subscription;
    const current = planNamed(planAt(subscription, at));
    const largest = planNamed(largestIn(subscription, month));
    const used = await documentIn(views, usage, usageId(account, month));
    const events = used?.events ?? 0;
    const sources = await sourcesInUse(views, account);
    const blocks = overageIn(subscription, month, events);
    const overage = blocks * OVERAGE_BLOCK_EUR;
    return {
      status: 200,
      body: {
        plan: current.name,
        price_eur_month: current.priceEurMonth,
        status: subscription.status,
        scheduled_change: scheduled !== null && scheduled.from > at ? scheduled : null,
        period: { start: `${month}-01T00:00:00.000Z`, end: new Date(monthEnd(now)).toISOString() },
        usage: {
          events,
          blocked: used?.blocked ?? 0,
          included: (current.hardStop ? current : largest).eventsPerMonth,
          overage_blocks: blocks,
          overage_eur: overage,
          sources,
          sources_included: current.endpoints,
          endpoints: sources,
          endpoints_included: current.endpoints,
        },
        estimated_total_eur: current.priceEurMonth + overage,
        provider: subscription.provider ?? provider,
      },
    };
  };

export const billingRoutes = (deps: BillingDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/billing/summary",
    who: READERS,
    summary: "The plan, this month's usage and its estimated total",
    tag: "billing",
    answers: { 200: SUMMARY },
    reads: [usage.schema.name, sources.schema.name],
    handle: summary(deps),
  }),
  route({
    method: "GET",
    path: "/v1/billing/plans",
    who: READERS,
    summary: "What each plan costs and includes, smallest first; they differ in volume only",
    tag: "billing",
    answers: { 200: OFFERED },
    handle: async () => ({ status: 200, body: offered }),
  }),
];
