import type { AnswerExamples } from "../../http/openapi-document.ts";

const SUMMARY = {
  id: "apr_cptnzo2uhiwriikddn64zae3bu2v5gti",
  status: "pending",
  event_id: "evt_wwjrnr5brmj7ok65qe25ua2xqltbvhz3",
  bundle_id: null,
  action: "refund.create",
  summary: 'Agent "helper" asks for refund.create',
  digest: "0a7e4b5a8fff20be571f338178092439e5980159d3a316d2fec570527bfd0663",
  cost_eur: null,
  requested_by: {
    kind: "agent",
    id: "agt_wck4gt2vzwuegdgryyyct26ur6dsfyfg",
    name: "helper",
  },
  requested_at: "2026-11-28T15:42:22.004Z",
  expires_at: "2026-11-28T16:42:22.004Z",
  min_approvals: 1,
  exclude_requester: false,
  requesters: ["mem_5m7vplh2i5iof3y2jil7a7b7zxyjp6j7"],
  policy: {
    id: "pol_qctauagjrb5ycpwtc2dzbn6sy3q4pur2",
    version: 1,
  },
  reasons: ["The policy asks for an approval of every request."],
  votes: [],
  decided_at: null,
  reason: null,
  replaces: null,
  replaced_by: null,
};

export const APPROVALS: AnswerExamples["bodies"] = {
  ApprovalSummary: SUMMARY,
  Approval: {
    ...SUMMARY,
    policy: { ...SUMMARY.policy, newest_version: 1 },
    outcome: { status: "held", reason: null },
    endpoint: {
      id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm",
      name: "shop",
      url: "https://app.example/hook",
      headers: [],
    },
    title: null,
    payload_format: "json",
    redacted: false,
    hidden: [],
    shown_digest: "466be1fa15832dbfe7fb94c6d22c156c1b36e3e113ecf201a5bdba8dcb2d9461",
    can_decide: [],
    hand_overs: [],
    payload: {
      amount: 5,
    },
  },
  ApprovalContext: {
    id: "apr_cptnzo2uhiwriikddn64zae3bu2v5gti",
    status: "pending",
    title: 'Agent "helper" asks for refund.create',
    fields: [
      {
        pointer: "/amount",
        label: "amount",
        value: 5,
        hidden: false,
      },
    ],
    fields_left_out: 0,
    run: "ticket-88213",
    proposal: null,
    steps: null,
    previous: null,
    undo: {
      reversibility: "irreversible",
      action: null,
      endpoint: null,
    },
    budget: null,
    agent: {
      id: "agt_wck4gt2vzwuegdgryyyct26ur6dsfyfg",
      today: {
        requests: 1,
        delivered: 0,
        refused: 0,
        rejected: 0,
        failed: 0,
        cost_eur: 0,
        more: false,
      },
      last: [
        {
          event_id: "evt_wwjrnr5brmj7ok65qe25ua2xqltbvhz3",
          action: "refund.create",
          status: "held",
          cost_eur: null,
          received_at: "2026-11-28T15:42:21.911Z",
        },
      ],
    },
    eligible: {
      can: true,
      why: null,
      reveal: true,
    },
    digest: "0a7e4b5a8fff20be571f338178092439e5980159d3a316d2fec570527bfd0663",
    shown_digest: "466be1fa15832dbfe7fb94c6d22c156c1b36e3e113ecf201a5bdba8dcb2d9461",
  },
};
