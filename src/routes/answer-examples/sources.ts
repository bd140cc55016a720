import type { AnswerExamples } from "../../http/openapi-document.ts";

export const SOURCES: AnswerExamples["bodies"] = {
  Source: {
    id: "src_fvxczk3qqnj4jy6pdzafo72pxklyei7s",
    name: "shop",
    type: "stripe",
    ingest_url: "https://countersign.example/v1/webhooks/stripe/src_fvxczk3qqnj4jy6pdzafo72pxklyei7s",
    status: "active",
    policy_id: null,
    endpoint_id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm",
    auth: null,
    dedupe: null,
    created_at: "2026-11-28T15:42:26.793Z",
    secret: "whsec_…",
  },
  RotatedSourceSecret: {
    previous_valid_until: "2026-11-29T15:42:26.830Z",
  },
  Sample: {
    event_id: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
    status: "recorded",
  },
  SignatureFailure: {
    minute: "2026-11-28T15:42:00.000Z",
    reason: "mismatch",
    count: 12,
    sample: {
      ip: "203.0.113.7",
      user_agent: "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
    },
  },
};
