import type { AnswerExamples } from "../../http/openapi-document.ts";

export const POLICIES: AnswerExamples["bodies"] = {
  PublishedPolicy: {
    name: "payments",
    budget_eur_day: 250,
    id: "pol_5wmx4olxr5q4martzea3yrubpnh44ii7",
    version: 1,
    created_at: "2026-11-28T15:42:26.960Z",
    created_by: "mem_5m7vplh2i5iof3y2jil7a7b7zxyjp6j7",
    reason: "The first month showed less than 200 a day",
    warnings: [],
  },
  Policy: {
    name: "payments",
    budget_eur_day: 250,
    id: "pol_qctauagjrb5ycpwtc2dzbn6sy3q4pur2",
    version: 2,
    created_at: "2026-11-28T15:42:26.984Z",
    created_by: "mem_5m7vplh2i5iof3y2jil7a7b7zxyjp6j7",
    reason: "The first month showed less than 200 a day",
  },
  PolicyValidation: {
    errors: [],
    warnings: [
      {
        path: "/approval/exclude_requester",
        message:
          "1 member can approve in this account, and the requester, who may be one of them, is excluded: a request may never get 2 approvals. Invite another approver.",
      },
    ],
  },
  PolicyLedger: {
    policy_id: "pol_qctauagjrb5ycpwtc2dzbn6sy3q4pur2",
    day: "2026-11-28",
    time_zone: "UTC",
    reserved_eur: 0,
    settled_eur: 0,
    overrun_eur: 0,
    available_eur: 250,
    requests: {
      reserved: 0,
      settled: 0,
    },
    limits: {
      version: 2,
      budget_eur_day: 250,
      rate_per_minute: null,
      loop: null,
    },
  },
};
