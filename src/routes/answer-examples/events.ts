import type { AnswerExamples } from "../../http/openapi-document.ts";

const ATTEMPT = {
  number: 1,
  trigger: "auto",
  started_at: "2026-11-28T15:42:22.102Z",
  outcome: "succeeded",
  duration_ms: 43,
  status_code: 200,
  failure: null,
  timings_ms: {
    dns: 0,
    connect: 6,
    tls: 0,
    first_byte: 35,
    total: 36,
  },
  next_attempt_at: null,
  request: {
    headers: {
      "content-type": "application/json",
      "user-agent": "Countersign/0.1.0",
      "webhook-id": "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
      "webhook-timestamp": "1795880542",
      "countersign-attempt": "1",
      "countersign-action": "refund.create",
      "countersign-agent": "agt_ioodrg4bo46nnilzr2egl4dzne4tdh4l",
      "countersign-depth": "1",
      traceparent: "00-6c42ff543fe7def894a579f7ae64b0d8-483c4d947ab916df-01",
      "webhook-signature": "[redacted]",
      "content-digest": "sha-256=:foTL8PenySwDcFhmXWYVL464WAqyU05SyHe8zOucx78=:",
      "signature-input":
        'sig1=("webhook-id" "webhook-timestamp" "countersign-attempt" "countersign-action" "countersign-agent" "countersign-depth" "content-digest");created=1795880542;keyid="end_vlrrgcmydm3kntp32bvbawafcilm6fmm";alg="hmac-sha256"',
      signature: "[redacted]",
    },
  },
  response: {
    headers: {
      "content-type": "application/json",
      date: "Sat, 28 Nov 2026 15:42:22 GMT",
      connection: "keep-alive",
      "keep-alive": "timeout=5",
      "content-length": "11",
    },
    encoding: "text",
    body: '{"ok":true}',
    truncated: false,
    kept: "whole",
    sha256: null,
    redacted: false,
  },
};

export const EVENTS: AnswerExamples["bodies"] = {
  Event: {
    id: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
    origin: {
      kind: "agent",
      id: "agt_ioodrg4bo46nnilzr2egl4dzne4tdh4l",
      name: "helper",
      type: "agent",
    },
    type: "refund.create",
    sample: false,
    status: "delivered",
    received_at: "2026-11-28T15:42:22.052Z",
    endpoint_id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm",
    delivery_id: "done",
    payload: {
      content_type: "application/json",
      size: 12,
      sha256: "fcbf73dcdecc059efe97b9ff6a092e9df465071a3b5cd4b3e736c11d43067d4d",
      kept: "whole",
      erased_at: null,
    },
    verdict: {
      decision: "allow",
      policy: null,
      gates: [
        {
          gate: "scope",
          outcome: "allow",
          code: "ok",
          detail: "the agent's scope includes refund.create",
        },
      ],
    },
    cost_eur: null,
    approval_id: null,
    run: null,
    bundle: null,
    duplicates: 0,
    delivery_id_reused: 0,
    trace_id: "6c42ff543fe7def894a579f7ae64b0d8",
    failure: null,
    end_reason: null,
    attempt_count: 1,
    headers: {
      "user-agent": "node",
    },
    attempts: [ATTEMPT],
    attempts_left_out: 0,
    replays: [],
    timeline: [
      {
        stage: "received",
        at: "2026-11-28T15:42:22.052Z",
        ms: 0,
      },
      {
        stage: "authenticated",
        at: "2026-11-28T15:42:22.052Z",
        ms: 0,
      },
      {
        stage: "gated",
        at: "2026-11-28T15:42:22.095Z",
        ms: 43,
      },
      {
        stage: "admitted",
        at: "2026-11-28T15:42:22.095Z",
        ms: 0,
      },
      {
        stage: "attempt",
        at: "2026-11-28T15:42:22.102Z",
        number: 1,
        ms: 7,
        outcome: "succeeded",
        duration_ms: 43,
        status_code: 200,
      },
      {
        stage: "delivered",
        at: "2026-11-28T15:42:22.145Z",
        ms: 43,
      },
    ],
    stages_left_out: 0,
  },
  EventSummary: {
    id: "evt_ke34dnurjymq3zuqmflzcyfniu35i36q",
    origin: {
      kind: "agent",
      id: "agt_ioodrg4bo46nnilzr2egl4dzne4tdh4l",
      name: "helper",
      type: "agent",
    },
    type: "order.create",
    sample: false,
    status: "delivered",
    received_at: "2026-11-28T15:42:28.591Z",
    endpoint_id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm",
    delivery_id: "bun_2fdpk2dzbbc7b7vp4ot5as4ucltwatf4/0",
    payload: {
      content_type: "application/json",
      size: 14,
      sha256: "318c2833301beeb9fd4ddb6838a375c4fee4c702f569b0c6b7518762f4f28546",
      kept: "whole",
      erased_at: null,
    },
    verdict: {
      decision: "allow",
      policy: null,
      gates: [
        {
          gate: "bundle",
          outcome: "allow",
          code: "ok",
          detail: "Decided on as step 0 of bun_2fdpk2dzbbc7b7vp4ot5as4ucltwatf4",
        },
      ],
    },
    cost_eur: 0,
    approval_id: null,
    run: null,
    bundle: {
      id: "bun_2fdpk2dzbbc7b7vp4ot5as4ucltwatf4",
      index: 0,
      undo: false,
      rollback: null,
    },
    duplicates: 0,
    delivery_id_reused: 0,
    trace_id: "cd9909c22a1075008fd40672a65fde74",
    failure: null,
    end_reason: null,
    attempt_count: 1,
  },
  Attempt: ATTEMPT,
  Stage: {
    stage: "received",
    at: "2026-11-28T15:42:22.052Z",
    ms: 0,
  },
  Trace: {
    resourceSpans: [
      {
        resource: {
          attributes: [
            {
              key: "service.name",
              value: {
                stringValue: "countersign",
              },
            },
            {
              key: "service.version",
              value: {
                stringValue: "0.1.0",
              },
            },
          ],
        },
        scopeSpans: [
          {
            scope: {
              name: "countersign",
              version: "0.1.0",
            },
            spans: [
              {
                traceId: "6c42ff543fe7def894a579f7ae64b0d8",
                spanId: "1c724f34eb0c3118",
                name: "execute_tool refund.create",
                kind: 2,
                startTimeUnixNano: "1795880542052000000",
                endTimeUnixNano: "1795880542145000000",
                attributes: [
                  {
                    key: "gen_ai.operation.name",
                    value: {
                      stringValue: "execute_tool",
                    },
                  },
                  {
                    key: "gen_ai.tool.name",
                    value: {
                      stringValue: "refund.create",
                    },
                  },
                  {
                    key: "gen_ai.tool.type",
                    value: {
                      stringValue: "function",
                    },
                  },
                  {
                    key: "gen_ai.tool.call.id",
                    value: {
                      stringValue: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
                    },
                  },
                ],
                events: [],
                status: {},
              },
            ],
          },
        ],
      },
    ],
  },
  ErasedPayload: {
    event_id: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
    erased_at: "2026-11-28T15:42:32.828Z",
    bytes_removed: "within-seconds",
  },
  Statistics: {
    by: "all",
    step: "1h",
    from: "2026-11-28T14:00:00.000Z",
    to: "2026-11-28T16:00:00.000Z",
    time_zone: "UTC",
    series: [
      {
        metric: "admitted",
        key: null,
        rest: 0,
        value: 4,
        list: "/v1/events?from=2026-11-28T14%3A00%3A00.000Z&to=2026-11-28T16%3A00%3A00.000Z&origin=source%2Cagent&status=queued%2Cdelivering%2Cretrying%2Cdelivered%2Cfailed%2Crecorded",
        points: [
          {
            at: "2026-11-28T14:00:00.000Z",
            value: 0,
          },
          {
            at: "2026-11-28T15:00:00.000Z",
            value: 4,
          },
        ],
      },
    ],
  },
  Attention: {
    data: [
      {
        kind: "endpoint",
        subject: {
          kind: "endpoint",
          id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm",
          name: "shop",
        },
        since: "2026-11-28T15:40:02.000Z",
        count: 17,
        detail: "Too many failures. 17 events wait.",
        severity: "critical",
        until: "2026-11-28T15:45:02.000Z",
      },
    ],
  },
  ReplayedEvent: {
    event_id: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
    replay_id: "rpl_sg3uxannttkemh67mpclrxjybbwxuqjq",
    status: "queued",
  },
  ReplayPlan: {
    count: 0,
    waiting: 0,
    waiting_at: [],
    skipped: [],
    oldest: null,
    newest: null,
    endpoints: [],
    estimated_s: 0,
  },
  EventReplayPlans: {
    data: [
      {
        event_id: "evt_myhtm3vib3jpnf7j4hhc5nxnf7x5uyez",
        status: "failed",
        skipped: null,
        waiting: { endpoint_id: "end_vlrrgcmydm3kntp32bvbawafcilm6fmm", reason: "circuit-open" },
      },
    ],
  },
  StartedReplay: {
    id: "rpl_sg3uxannttkemh67mpclrxjybbwxuqjq",
    status: "running",
    total: 3,
    waiting: 1,
    skipped: [],
  },
  Replay: {
    id: "rpl_sg3uxannttkemh67mpclrxjybbwxuqjq",
    status: "done",
    started_at: "2026-11-28T15:42:22.439Z",
    filter: {
      status: "failed",
    },
    total: 0,
    rate_per_second: 10,
    by: {
      kind: "member",
      id: "mem_5m7vplh2i5iof3y2jil7a7b7zxyjp6j7",
    },
    reason: null,
    delivered: 0,
    failed: 0,
    skipped: 0,
    skipped_by: [],
    ended_at: "2026-11-28T15:42:22.480Z",
    cancelled: null,
    done: 0,
    waiting: 0,
    waiting_at: [],
  },
  CancelledReplay: {
    id: "rpl_sg3uxannttkemh67mpclrxjybbwxuqjq",
    status: "cancelled",
  },
};
