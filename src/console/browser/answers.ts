export type Page<T> = { readonly data: readonly T[]; readonly next_cursor: string | null };

export type Me = {
  readonly account: { readonly id: string; readonly name: string; readonly plan: string };
  readonly member: { readonly id: string; readonly email: string; readonly role: string };
};

type Failure = { readonly kind: string; readonly detail: string };

type Gate = { readonly gate: string; readonly outcome: string; readonly code: string; readonly detail: string };

export type Verdict = {
  readonly decision: string;
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly gates: readonly Gate[];
  readonly observed?: boolean;
};

export type EventSummary = {
  readonly id: string;
  readonly origin: { readonly kind: string; readonly id: string; readonly name: string; readonly type: string };
  readonly type: string;
  readonly status: string;
  readonly received_at: string;
  readonly endpoint_id: string | null;
  readonly delivery_id: string;
  readonly payload: {
    readonly content_type: string;
    readonly size: number;
    readonly sha256: string;
    readonly erased_at: string | null;
  };
  readonly verdict: Verdict;
  readonly cost_eur: number | null;
  readonly approval_id: string | null;
  readonly duplicates: number;
  readonly delivery_id_reused: number;
  readonly trace_id: string;
  readonly failure: Failure | null;
  readonly attempt_count: number;
  readonly bundle?: { readonly id: string; readonly index: number; readonly undo: boolean } | null;
};

export type Timings = {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly first_byte: number | null;
  readonly total: number;
};

export type Headers = Readonly<Record<string, string>>;

export type Attempt = {
  readonly number: number;
  readonly trigger: string;
  readonly started_at: string;
  readonly duration_ms: number | null;
  readonly outcome: string;
  readonly failure: Failure | null;
  readonly status_code: number | null;
  readonly timings_ms: Timings | null;
  readonly next_attempt_at: string | null;
  readonly request: { readonly headers: Headers } | null;
  readonly response: {
    readonly headers: Headers;
    readonly encoding: string;
    readonly body: string | null;
    readonly truncated: boolean;
    readonly redacted: boolean;
  } | null;
};

export type Stage = {
  readonly stage: string;
  readonly at: string;
  readonly ms: number;
  readonly number?: number;
  readonly reason?: string;
  readonly by?: { readonly kind: string; readonly id: string };
  readonly outcome?: string;
  readonly count?: number;
  readonly last_at?: string;
};

export type EventDetail = EventSummary & {
  readonly headers: Headers | null;
  readonly attempts: readonly Attempt[];
  readonly attempts_left_out?: number;
  readonly timeline: readonly Stage[];
  readonly replays?: readonly {
    readonly id: string;
    readonly by: { readonly kind: string; readonly id: string };
    readonly reason: string | null;
    readonly at: string;
  }[];
};

export type Approval = {
  readonly id: string;
  readonly status: string;
  readonly event_id: string | null;
  readonly bundle_id: string | null;
  readonly action: string | null;
  readonly summary: string;
  readonly digest: string;
  readonly cost_eur: number | null;
  readonly requested_by: { readonly kind: string; readonly id: string; readonly name: string };
  readonly requested_at: string;
  readonly expires_at: string;
  readonly min_approvals: number;
  readonly reasons: readonly string[];
  readonly votes: readonly {
    readonly member_id: string;
    readonly email: string;
    readonly decision: string;
    readonly comment: string | null;
    readonly at: string;
  }[];
  readonly reason: string | null;
};

export type ApprovalDetail = Approval & {
  readonly endpoint: { readonly id: string; readonly name?: string; readonly url?: string } | null;
  readonly payload: unknown;
  readonly redacted: boolean;
  readonly shown_digest: string;
  readonly hand_overs: readonly {
    readonly member_id: string;
    readonly link: string;
    readonly by: string;
    readonly at: string;
  }[];
  readonly outcome: { readonly status: string; readonly reason: string | null };
  readonly payload_damaged?: boolean;
};

export type Step = {
  readonly index: number;
  readonly action: string;
  readonly status: string;
  readonly event_id: string | null;
  readonly compensation_event_id: string | null;
  readonly reversibility: string;
  readonly compensation: string | null;
  readonly cost_eur: number | null;
  readonly refusal: { readonly code: string; readonly detail: string } | null;
  readonly resolution: { readonly by: string; readonly comment: string; readonly at: string } | null;
  readonly result?: { readonly status_code: number | null; readonly body: unknown } | null;
};

export type Bundle = {
  readonly verdict: Verdict;
  readonly hold_outcome?: string;
  readonly payload_erased_at?: string | null;
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly agent_id: string;
  readonly steps: readonly Step[];
  readonly approval_id?: string;
  readonly reason?: string;
  readonly left?: readonly { readonly index: number; readonly action: string; readonly why: string }[];
  readonly cost_eur: number | null;
  readonly run_id: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
};

export type Agent = {
  readonly id: string;
  readonly name: string;
  readonly policy_id: string | null;
  readonly scope: { readonly actions: readonly string[] };
  readonly status: string;
  readonly suspended_reason: string | null;
  readonly last4: string;
  readonly created_at: string;
};

export type Endpoint = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly health: {
    readonly state: string;
    readonly success_rate_1h: number | null;
    readonly p50_ms: number | null;
    readonly p99_ms: number | null;
    readonly consecutive_failures: number;
    readonly last_success_at: string | null;
    readonly last_failure: { readonly at: string; readonly kind: string; readonly status_code: number | null } | null;
    readonly next_probe_at: string | null;
    readonly queued: number;
  };
};

export type Tested = {
  readonly outcome: string;
  readonly status_code: number | null;
  readonly failure: Failure | null;
};

export type Source = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly ingest_url: string;
  readonly status: string;
  readonly policy_id: string | null;
  readonly endpoint_id: string | null;
};

export type Rejection = {
  readonly minute: string;
  readonly reason: string;
  readonly count: number;
  readonly sample: { readonly ip: string; readonly user_agent: string } | null;
};

export type Replay = {
  readonly id: string;
  readonly status: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly total: number;
  readonly done: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly rate_per_second: number;
  readonly by: { readonly kind: string; readonly id: string };
  readonly reason: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly cancelled: {
    readonly by: { readonly kind: string; readonly id: string };
    readonly reason: string | null;
  } | null;
};

export type ReplayPlan = {
  readonly count: number;
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly endpoints: readonly { readonly id: string | null; readonly count: number }[];
  readonly estimated_s: number;
};
