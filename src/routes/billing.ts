import { OVERAGE_BLOCK_EUR, OVERAGE_BLOCK_EVENTS, PLANS, type Plan } from "../../domain/account/plans.ts";
import { monthEnd, monthOf } from "../../domain/calendar.ts";
import type { Clock, ViewStore } from "../../domain/ports.ts";
import { sources } from "../../projections/sources.ts";
import { type UsageDocument, usage, usageId } from "../../projections/usage.ts";
import type { JsonSchema, Route } from "./route.ts";

export type BillingDeps = {
  readonly views: Pick<ViewStore, "get" | "count">;
  readonly clock: Clock;
  readonly planOf: (account: string) => Promise<{ readonly plan: Plan }>;
};

/** Above what any plan includes; a view that lags must not make an endless count. */
const SOURCES_MAX = 1_000;

const integer: JsonSchema = { type: "integer" };
const number: JsonSchema = { type: "number" };
const time: JsonSchema = { type: "string", format: "date-time" };
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});

const SUMMARY = object({
  plan: { enum: Object.keys(PLANS) },
  price_eur_month: number,
  status: { type: "string" },
  period: object({ start: time, end: time }),
  usage: object({
    events: { type: "integer", description: "Admitted events of sources, each once" },
    blocked: { type: "integer", description: "Refused requests; they cost nothing" },
    included: integer,
    overage_blocks: integer,
    overage_eur: number,
    endpoints: { type: "integer", description: "Sources in use" },
    endpoints_included: integer,
  }),
  estimated_total_eur: number,
  provider: { type: "string" },
});

/** Blocks begun beyond what is included; whole numbers throughout, so nothing is ever rounded. */
export const overageBlocks = (plan: Plan, events: number): number =>
  plan.hardStop ? 0 : Math.ceil(Math.max(0, events - plan.eventsPerMonth) / OVERAGE_BLOCK_EVENTS);

const summary =
  ({ views, clock, planOf }: BillingDeps): Route["handle"] =>
  async ({ principal: { account } }) => {
    const now = clock.now();
    const { plan } = await planOf(account);
    // Written by the projection alone.
    const used = (await views.get(usage.schema.name, usageId(account, monthOf(now)))) as UsageDocument | null;
    const events = used?.events ?? 0;
    const blocks = overageBlocks(plan, events);
    const overage = blocks * OVERAGE_BLOCK_EUR;
    const own = [{ field: "account", is: "=", value: account }] as const;
    return {
      status: 200,
      body: {
        plan: plan.name,
        price_eur_month: plan.priceEurMonth,
        status: "active",
        period: { start: `${monthOf(now)}-01T00:00:00.000Z`, end: new Date(monthEnd(now)).toISOString() },
        usage: {
          events,
          blocked: used?.blocked ?? 0,
          included: plan.eventsPerMonth,
          overage_blocks: blocks,
          overage_eur: overage,
          endpoints: await views.count(sources.schema.name, own, SOURCES_MAX),
          endpoints_included: plan.endpoints,
        },
        estimated_total_eur: plan.priceEurMonth + overage,
        provider: "manual",
      },
    };
  };

export const billingRoutes = (deps: BillingDeps): readonly Route[] => [
  {
    method: "GET",
    path: "/v1/billing/summary",
    who: { session: "viewer", key: "viewer" },
    summary: "The plan, this month's usage and what it comes to",
    tag: "billing",
    answers: { 200: SUMMARY },
    reads: [usage.schema.name, sources.schema.name],
    handle: summary(deps),
  },
];
