import type { AnswerExamples } from "../../http/openapi-document.ts";

export const BILLING: AnswerExamples["bodies"] = {
  BillingSummary: {
    plan: "scale",
    price_eur_month: 89,
    status: "active",
    scheduled_change: null,
    period: {
      start: "2026-11-01T00:00:00.000Z",
      end: "2026-12-01T00:00:00.000Z",
    },
    usage: {
      events: 0,
      blocked: 0,
      included: 250000,
      overage_blocks: 0,
      overage_eur: 0,
      sources: 2,
      sources_included: 100,
      endpoints: 2,
      endpoints_included: 100,
    },
    estimated_total_eur: 89,
    provider: "manual",
  },
  OfferedPlans: {
    overage: {
      events: 25000,
      price_eur: 12,
    },
    plans: [
      {
        name: "free",
        price_eur_month: 0,
        events_per_month: 1000,
        endpoints: 1,
        retention_days: 3,
        hard_stop: true,
      },
      {
        name: "starter",
        price_eur_month: 19,
        events_per_month: 25000,
        endpoints: 5,
        retention_days: 14,
        hard_stop: false,
      },
      {
        name: "core",
        price_eur_month: 49,
        events_per_month: 100000,
        endpoints: 20,
        retention_days: 30,
        hard_stop: false,
      },
      {
        name: "scale",
        price_eur_month: 89,
        events_per_month: 250000,
        endpoints: 100,
        retention_days: 90,
        hard_stop: false,
      },
    ],
  },
  CheckoutSession: {
    checkout_url: "https://countersign.example/billing/checkout/one-time-token",
    session_id: "cos_4xyypav54vrplykgiwgmvyzukg5mrvsu",
    expires_at: "2026-11-28T16:42:26.722Z",
    notices: [
      "Payloads of what ends from then on are kept for 30 days instead of 90. What has ended by then is kept as long as before.",
    ],
  },
  PortalSession: {
    portal_url: "https://countersign.example/billing/portal/one-time-token",
    expires_at: "2026-11-28T16:42:26.761Z",
  },
};
