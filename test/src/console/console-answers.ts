import type {
  Agent,
  ApprovalDetail,
  Bundle,
  Endpoint,
  EventDetail,
  Me,
  Rejection,
  Replay,
  Source,
} from "../../../src/console/browser/answers.ts";

/** Answers of the API, as its description has them, for pages without a service. */

const HOSTILE = `<img src=x onerror="alert(1)">javascript:alert(1)`;
const AT = "2026-03-01T12:00:00.000Z";

export const ME: Me = {
  account: { id: "acc_1", name: "Shop", plan: "free" },
  member: { id: "mem_1", email: "ana@shop.example", role: "owner" },
};

export const EVENT: EventDetail = {
  id: "evt_1",
  origin: { kind: "source", id: "src_1", name: "shop", type: "stripe" },
  type: "payment.failed",
  status: "failed",
  received_at: AT,
  endpoint_id: "end_1",
  delivery_id: "d-1",
  payload: { content_type: "application/json", size: 812, sha256: "ab", erased_at: null },
  verdict: {
    decision: "allow",
    policy: { id: "pol_1", version: 3 },
    gates: [{ gate: "budget", outcome: "allow", code: "ok", detail: "0.02 of 250.00 EUR" }],
  },
  cost_eur: 0.02,
  approval_id: null,
  duplicates: 2,
  delivery_id_reused: 1,
  trace_id: "0af7",
  failure: { kind: "http-4xx", detail: "The receiver answered 400" },
  attempt_count: 1,
  headers: { "user-agent": "Stripe/1.0", "stripe-signature": "[redacted]" },
  attempts: [
    {
      number: 1,
      trigger: "auto",
      started_at: AT,
      duration_ms: 41,
      outcome: "failed",
      failure: { kind: "http-4xx", detail: "The receiver answered 400" },
      status_code: 400,
      timings_ms: { dns: 1, connect: 2, tls: 3, first_byte: 38, total: 41 },
      next_attempt_at: null,
      request: { headers: { "webhook-id": "evt_1" } },
      response: { headers: { server: "nginx" }, encoding: "text", body: '{"no":1}', truncated: false, redacted: false },
    },
  ],
  timeline: [
    { stage: "received", at: AT, ms: 0 },
    { stage: "attempt", at: AT, ms: 2_500, number: 1, outcome: "failed" },
    { stage: "duplicate", at: AT, ms: 3, count: 2, last_at: AT },
  ],
};

const APPROVAL: ApprovalDetail = {
  id: "apr_1",
  status: "pending",
  event_id: "evt_1",
  bundle_id: null,
  action: "refund",
  summary: "Refund 120 EUR",
  digest: "d1",
  cost_eur: 120,
  requested_by: { kind: "agent", id: "agt_1", name: "bot" },
  requested_at: AT,
  expires_at: AT,
  min_approvals: 2,
  reasons: ["It costs 100 EUR or more."],
  votes: [{ member_id: "mem_bo", email: "bo@shop.example", decision: "approve", comment: null, at: AT }],
  reason: null,
  endpoint: { id: "end_1", name: "till", url: "https://till.example/refund" },
  payload: { amount: 120 },
  redacted: false,
  shown_digest: "s1",
  hand_overs: [{ member_id: "mem_bo", link: "reset", by: "mem_ana", at: AT }],
  outcome: { status: "held", reason: null },
};

const PLAIN_STEP = {
  reversibility: "compensable",
  compensation: null,
  cost_eur: 1,
  refusal: null,
  resolution: null,
};

export const BUNDLE: Bundle = {
  id: "bun_1",
  name: "checkout",
  status: "rollback_incomplete",
  agent_id: "agt_1",
  verdict: EVENT.verdict,
  steps: [
    {
      index: 0,
      action: "reserve",
      status: "compensated",
      event_id: "evt_a",
      compensation_event_id: "evt_b",
      ...PLAIN_STEP,
      compensation: "unreserve",
    },
    {
      index: 1,
      action: "charge",
      status: "compensation_failed",
      event_id: "evt_c",
      compensation_event_id: "evt_d",
      ...PLAIN_STEP,
      compensation: "refund",
      result: { status_code: 200, body: { id: "ch_1" } },
    },
    {
      index: 2,
      action: "ship",
      status: "skipped",
      event_id: null,
      compensation_event_id: null,
      ...PLAIN_STEP,
      refusal: { code: "gate-content", detail: "not there" },
    },
  ],
  reason: "step 3 was refused",
  left: [{ index: 1, action: "charge", why: "the undo failed" }],
  cost_eur: 1.5,
  run_id: null,
  created_at: AT,
  ended_at: AT,
};

export const AGENT: Agent = {
  id: "agt_1",
  name: "bot",
  policy_id: null,
  scope: { actions: ["refund.*"] },
  status: "active",
  suspended_reason: null,
  last4: "abcd",
  created_at: AT,
};

const ENDPOINT: Endpoint = {
  id: "end_1",
  name: "till",
  url: "https://till.example/hook",
  health: {
    state: "open",
    success_rate_1h: 0.25,
    p50_ms: 12,
    p99_ms: 950,
    consecutive_failures: 11,
    last_success_at: null,
    last_failure: { at: AT, kind: "timeout", status_code: null },
    next_probe_at: AT,
    queued: 7,
  },
};

const SOURCE: Source = {
  id: "src_1",
  name: "shop",
  type: "stripe",
  ingest_url: "https://hooks.example/v1/webhooks/stripe/src_1",
  status: "active",
  policy_id: null,
  endpoint_id: "end_1",
};

const REJECTION: Rejection = {
  minute: AT,
  reason: "mismatch",
  count: 3,
  sample: { ip: "192.0.2.1", user_agent: "curl/8" },
};

const REPLAY: Replay = {
  id: "rpl_1",
  status: "running",
  filter: { status: "failed", endpoint_id: "end_1" },
  rate_per_second: 10,
  by: { kind: "member", id: "mem_1" },
  reason: null,
  started_at: AT,
  ended_at: null,
  cancelled: null,
  total: 10,
  done: 4,
  delivered: 3,
  failed: 1,
  skipped: 0,
};

const list = (...data: readonly unknown[]) => ({ data, next_cursor: null });

/** By method and path. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  "GET /v1/auth/me": ME,
  "GET /v1/events": { data: [EVENT], next_cursor: "c2" },
  "GET /v1/events/evt_1": EVENT,
  "GET /v1/approvals": list(APPROVAL),
  "GET /v1/approvals/apr_1": APPROVAL,
  "GET /v1/bundles": list(BUNDLE),
  "GET /v1/bundles/bun_1": BUNDLE,
  "GET /v1/agents": list(AGENT),
  "GET /v1/agents/agt_1": AGENT,
  "GET /v1/endpoints": list(ENDPOINT),
  "GET /v1/endpoints/end_1": ENDPOINT,
  "GET /v1/sources": list(SOURCE),
  "GET /v1/sources/src_1": SOURCE,
  "GET /v1/sources/src_1/rejections": list(REJECTION),
  "GET /v1/replays": list(REPLAY),
  "GET /v1/replays/rpl_1": REPLAY,
  "POST /v1/endpoints/end_1/test": {
    outcome: "failed",
    status_code: null,
    failure: { kind: "timeout", detail: "no answer" },
  },
  "POST /v1/replays": {
    count: 12,
    oldest: AT,
    newest: AT,
    endpoints: [{ id: "end_1", count: 12 }],
    estimated_s: 2,
    id: "rpl_1",
  },
};

/** The same with every text that people or senders chose replaced by markup. */
export const hostile = (value: unknown, text = HOSTILE): unknown => {
  if (Array.isArray(value)) return value.map((it) => hostile(it, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => {
      const isChosen = [
        "name",
        "type",
        "detail",
        "delivery_id",
        "body",
        "summary",
        "comment",
        "url",
        "user_agent",
        "why",
        "reason",
        "email",
        "id",
        "endpoint_id",
        "server",
      ].includes(name);
      return [name, isChosen && typeof it === "string" ? text : hostile(it, text)];
    }),
  );
};
