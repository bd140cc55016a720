import type { ApprovalEvent, ApprovalRequest } from "../../domain/approval/events.ts";
import type { BundleEvent } from "../../domain/bundle/events.ts";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { ReplayEvent } from "../../domain/replay/events.ts";
import {
  approvalFacts,
  at,
  bundleFacts,
  bundleStep,
  deliveryFacts,
  endpointRegistered,
  type Fact,
  type History,
  history,
  replayFacts,
} from "./history.ts";
import { addressed, words } from "./personal-words.ts";

const people = (log: History): void => {
  const added = (member: string): Fact => ({
    type: "MemberAdded",
    data: { account: "acc_1", member, ...addressed(`${member}@example.com`), role: "admin", at: at(0) },
  });
  const key = (key_id: string, expires_at: string | null): Fact => ({
    type: "ApiKeyCreated",
    data: { account: "acc_1", key_id, name: "ci", role: "viewer", digest: "00", last4: "wxyz", expires_at, at: at(0) },
  });
  const byOwner = { actor: { kind: "member", id: "mem_1" } } as const;
  log.add("account-acc_1", added("mem_1"), byOwner);
  log.add("account-acc_1", added("mem_2"), byOwner);
  log.add("account-acc_1", {
    type: "MemberRemoved",
    data: { account: "acc_1", member: "mem_2", address: addressed("mem_2@example.com").address, at: at(1) },
  });
  log.add("session-ses_1", {
    type: "SessionOpened",
    data: {
      account: "acc_1",
      member: "mem_1",
      epoch: 0,
      client: { id: "per_1", commitment: "00", size: 2 },
      expires_at: at(9_000),
      mac: "00",
      at: at(1),
    },
  });
  log.add("account-acc_1", {
    type: "SessionsEnded",
    data: { account: "acc_1", member: "mem_1", epoch: 1, keeps: "ses_1", at: at(1) },
  });
  log.add("account-acc_1", {
    type: "MemberInvited",
    data: {
      account: "acc_1",
      member: "mem_3",
      ...addressed("mem_3@example.com"),
      role: "viewer",
      expires_at: at(9_000),
      at: at(1),
    },
  });
  // A clock that was set back makes a record late.
  log.add("account-acc_1", key("key_1", null), { ...byOwner, at: at(-60) });
  log.add("account-acc_1", key("key_2", at(9_000)), byOwner);
  log.add("account-acc_1", key("key_3", null), byOwner);
  const used = { account: "acc_1", key_id: "key_2", day: "2026-03-01", at: at(2) };
  log.add("apikey-key_2", { type: "ApiKeyUsed", data: used });
  log.add("account-acc_1", { type: "ApiKeyRevoked", data: { account: "acc_1", key_id: "key_3", at: at(2) } });
};

const subscriptions = (log: History): void => {
  const about = { provider: "stripe", reference: "evt_1", by: "stripe" };
  const told = (account: string, ...facts: readonly (readonly [type: string, data: JsonObject])[]): void => {
    const opened = { name: "shop", plan: "free", time_zone: "UTC" };
    for (const [index, [type, data]] of ([["AccountOpened", opened], ...facts] as const).entries())
      log.add(`account-${account}`, { type, data: { account, ...data, at: at(index * 60) } }, { account });
  };
  const changed = (plan: string) => ["PlanChanged", { ...about, plan }] as const;
  const scheduled = (plan: string, from: string) => ["DowngradeScheduled", { ...about, plan, from }] as const;
  const stands = (status: string) => ["SubscriptionChanged", { ...about, status, customer: "cus_1" }] as const;
  told("acc_free");
  told("acc_moved", ["AccountChanged", { changes: { time_zone: "Europe/Berlin" } }]);
  told("acc_core", changed("core"), stands("past_due"), scheduled("starter", at(9_000)));
  told("acc_scale", changed("scale"), scheduled("free", at(150)), changed("starter"), stands("cancelled"));
  told("acc_kept", changed("scale"), scheduled("core", at(9_000)), ["DowngradeCancelled", about]);
  told("acc_over", changed("starter"), ["OverageReported", { provider: "stripe", month: "2026-03", blocks: 2 }]);
};

const sources = (log: History): void => {
  const source = (source_id: string, over: JsonObject): void => {
    const settings = { name: "shop", policy_id: null, endpoint_id: null, status: "active" };
    const rules = { type: "stripe", auth: null, dedupe: null };
    const data = {
      source_id,
      account: "acc_1",
      secret: "sealed",
      made_by: "mem_1",
      ...settings,
      ...rules,
      ...over,
      at: at(0),
    };
    log.add(`source-${source_id}`, { type: "SourceRegistered", data });
  };
  const auth = { header: "x-signature", algorithm: "sha256", encoding: "hex" };
  source("src_1", { policy_id: "pol_1", endpoint_id: "end_1" });
  source("src_2", { type: "hmac", auth, dedupe: { header: "x-delivery" } });
  const signed = { ...auth, prefix: "v1=", timestamp_header: "x-time" };
  source("src_3", { type: "hmac", auth: signed, dedupe: { pointer: "/id" } });
  source("src_4", {});
  const changes = { name: "till", status: "paused" };
  log.add("source-src_2", { type: "SourceChanged", data: { source_id: "src_2", changes, at: at(1) } });
  log.add("source-src_4", { type: "SourceDeleted", data: { source_id: "src_4", at: at(1) } });
  const first = { id: `per_${"a".repeat(32)}`, commitment: "0".repeat(64), size: 40 };
  const rejected = { source_id: "src_1", minute: at(60), clients: { stale: first } };
  const counted = (more: JsonObject): void => {
    log.add("source-src_1", { type: "SourceRejectsCounted", data: { ...rejected, ...more, at: at(120) } });
  };
  counted({ counts: { stale: 2, missing: 1 } });
  counted({ counts: { stale: 1, mismatch: 3 }, clients: { stale: first, mismatch: first } });
};

const policies = (log: History): void => {
  const full: Required<PolicyDefinition> = {
    name: "payments",
    budget_eur_day: 250,
    rate_per_minute: 60,
    require_fields: ["data.object.id"],
    block_on_violation: false,
    cost: { pointer: "/amount", scale: 0.01, default_eur: 0.5, numeric_text: true },
    // Names that MongoDB does not take everywhere.
    schema: { type: "object", $comment: "a.b", properties: { "a.b": { $ref: "#/$defs/x" } }, $defs: { x: true } },
    deny: [{ name: "large", when: "payload.amount > 50000" }],
    redact: ["data.object.card"],
    loop: { max_identical: 3, window_s: 600, max_per_run: 50, max_depth: 4 },
    protected: true,
    approval: {
      when: "cost_eur >= 100.0",
      min_approvals: 2,
      exclude_requester: true,
      reveal: ["approver"],
      expires_after_s: 3_600,
    },
  };
  const versions: readonly PolicyDefinition[] = [
    full,
    { name: "fixed", cost: { fixed_eur: 0.02 }, schema: true },
    { name: "bare" },
  ];
  // Of the first policy one version, of the second two: each definition is the newest of one.
  for (let policy = 1; policy <= versions.length; policy += 1) {
    const policy_id = `pol_${policy}`;
    for (const [index, definition] of versions.slice(0, policy).entries()) {
      const about = { policy_id, account: "acc_1", version: index + 1, created_by: "mem_1", at: at(index) };
      const said = index === 0 ? { reason: words("a trial") } : {};
      // Plain JSON: the readonly lists of the type are what keeps the compiler from seeing it.
      const data: JsonObject = { ...about, definition: definition as unknown as JsonObject, ...said };
      log.add(`policy-${policy_id}`, { type: "PolicyPublished", data });
    }
  }
};

const endpoints = (log: History): void => {
  const about = (endpoint_id: string, type: string, data: JsonObject = {}): void =>
    void log.add(`endpoint-${endpoint_id}`, { type, data: { endpoint_id, ...data, at: at(5) } });
  for (const id of ["end_1", "end_2", "end_3", "end_4", "end_5"]) log.add(`endpoint-${id}`, endpointRegistered(id));
  about("end_1", "EndpointChanged", {
    changes: {
      rate_per_second: 5,
      headers: { "x-team": { sealed: "sealed", digest: null } },
      notifications: ["approval.requested"],
    },
  });
  about("end_1", "EndpointChanged", { changes: { policy_id: "pol_1" } });
  about("end_2", "EndpointChanged", { changes: { policy_id: null } });
  about("end_2", "EndpointDisabled", { reason: "it answered 410" });
  about("end_3", "EndpointDisabled", { reason: "asked for" });
  about("end_3", "EndpointEnabled");
  about("end_3", "EndpointDeleted");
  const counts = { consecutive_failures: 10, attempts: 20, failed: 14 };
  about("end_4", "EndpointDegraded", { ...counts, consecutive_failures: 3 });
  about("end_5", "EndpointOpened", {
    ...counts,
    reason: "failure-rate",
    failing_since: at(1),
    next_probe_at: at(15),
  });
  about("end_5", "EndpointProbed", { event_id: "evt_1", probe: 1, next_probe_at: at(35) });
};

const VIOLATED: Request["verdict"] = {
  decision: "allow",
  policy: { id: "pol_1", version: 1 },
  gates: [{ gate: "rate", outcome: "deny", code: "rate", detail: "60 of 60 in the last minute" }],
  observed: true,
};

/** Several policies were asked; one of them applies to one step of a bundle. */
const UNDER_TWO: Request["verdict"] = {
  decision: "allow",
  policy: { id: "pol_1", version: 1 },
  policies: [
    { id: "pol_1", version: 1 },
    { id: "pol_2", version: 1, steps: [0] },
  ],
  gates: [{ gate: "rate", outcome: "allow", code: "ok", detail: "1 of 60", policy: { id: "pol_2", version: 1 } }],
};

const agents = (log: History): void => {
  const about = (agent_id: string, type: string, data: JsonObject = {}): void =>
    void log.add(`agent-${agent_id}`, { type, data: { agent_id, ...data, at: at(6) } });
  const key = { key_id: "agk_1", digest: "00", last4: "wxyz" };
  const settings = { account: "acc_1", name: "refunds", policy_id: null, scope: { actions: ["refund.*"] } };
  for (const id of ["agt_1", "agt_2", "agt_3"]) about(id, "AgentRegistered", { ...settings, ...key });
  about("agt_1", "AgentChanged", { changes: { policy_id: "pol_1" } });
  about("agt_1", "AgentKeyRotated", { ...key, last4: "1234" });
  about("agt_2", "AgentSuspended", { reason: words("it asked for too much") });
  about("agt_3", "AgentDeleted");
};

const actions = (log: History): void => {
  const defined = (action_id: string, version: number, definition: JsonObject): void => {
    const data = { action_id, account: "acc_1", name: action_id, version, definition, by: "mem_1", at: at(version) };
    log.add(`action-${action_id}`, { type: "ActionDefined", data });
  };
  const cost = { pointer: "/amount", scale: 0.01, default_eur: 0.5, numeric_text: true };
  const undone = { reversibility: "compensable", compensation: "act_2" };
  defined("act_1", 1, { endpoint_id: "end_1", reversibility: "irreversible" });
  defined("act_9", 1, { endpoint_id: "end_1", reversibility: "irreversible", policy_id: "pol_1" });
  defined("act_1", 2, { endpoint_id: "end_1", schema: { type: "object" }, cost, ...undone });
  defined("act_2", 1, { endpoint_id: "end_1", cost: { fixed_eur: 0.02 }, reversibility: "irreversible" });
  defined("act_3", 1, { endpoint_id: "end_1", reversibility: "reversible" });
  const words = { title: "Pay {/amount|eur}", labels: { "/amount": "Amount" } };
  defined("act_4", 1, { endpoint_id: "end_1", reversibility: "reversible", ...words });
  const gone = { action_id: "act_3", account: "acc_1", name: "act_3", at: at(9) };
  log.add("action-act_3", { type: "ActionDeleted", data: gone });
};

/** As when no byte came. */
const unanswered = (failed: DeliveryEvent): DeliveryEvent => {
  if (failed.type !== "AttemptFailed") return failed;
  const timings_ms = { dns: 1, connect: 2, tls: 3, first_byte: null, total: 6 };
  const data = { ...failed.data, status_code: null, timings_ms, failure: { kind: "timeout", detail: "late" } } as const;
  return { ...failed, data };
};

const deliveries = (log: History): void => {
  type Tell = (facts: ReturnType<typeof deliveryFacts>) => readonly DeliveryEvent[];
  const told = (id: string, tell: Tell, endpoint = "end_1"): void => {
    for (const fact of tell(deliveryFacts(id, endpoint))) log.add(`delivery-${id}`, fact);
  };
  told("evt_1", (is) => [is.admitted(), is.started(1, 10), is.succeeded(1, 11), is.delivered(11), is.erased(20)]);
  told("evt_2", (is) => [
    is.admitted({ verdict: VIOLATED, type: "" }),
    is.started(1, 10),
    is.attemptFailed(1, 11, at(16)),
    { type: "DuplicatesCounted", data: { event_id: "evt_2", count: 2, at: at(12) } },
    { type: "DeliveryIdReused", data: { event_id: "evt_2", count: 1, at: at(13) } },
  ]);
  const late: Tell = (is) => [
    is.admitted({ cost: null, verdict: UNDER_TWO }),
    is.started(1, 10),
    unanswered(is.attemptFailed(1, 12, at(17))),
  ];
  told("evt_3", late, "end_2");
  told("evt_4", (is) => [
    is.admitted(),
    is.started(1, 10),
    is.started(2, 50),
    is.attemptFailed(2, 51, null),
    is.failed(51),
  ]);
  told("evt_5", (is) => [is.blocked({ verdict: { ...VIOLATED, decision: "deny", policy: null } }), is.blocked()]);
  const head = { id: "evt_5h/0", size: 4_096, commitment: "e".repeat(64) };
  const cut = { revision: 0, content_type: "text/plain", size: 5_000, commitment: "d".repeat(64), head };
  told("evt_5h", (is) => [is.blocked({ payload: cut })]);
  told("evt_6", (is) => [is.admitted({ endpoint_id: null })]);
  told("evt_7", (is) => [is.admitted(), is.started(1, 30)]);
  told("evt_8", (is) => [is.held({ approval_id: "apr_8" })]);
  told("evt_9", (is) => [is.held({ approval_id: "apr_9" }), is.holdEnded(20, "rejected", "apr_9")]);
  told("evt_10", (is) => [is.held({ approval_id: "apr_10" }), is.released(20, "apr_10"), is.started(1, 21)]);
  const origin = { kind: "system", id: "agent.resumed", name: "agent.resumed", type: "notification" } as const;
  told("evt_12", (is) => [is.admitted({ origin, type: origin.id, cost: null }), is.started(1, 10)]);
  const agent = { kind: "agent", id: "agt_1", name: "refunds", type: "agent" } as const;
  const asked = { origin: agent, type: "act.0", run: { id: "run_1", depth: 0 } } as const;
  told("evt_15", (is) => [is.admitted(asked), is.started(1, 10), is.succeeded(1, 11), is.delivered(11)]);
  told("evt_16", (is) => [is.held({ approval_id: "apr_16" }, { ...asked, endpoint_id: null })]);
  told("evt_17", (is) => [is.held({ approval_id: "apr_17" }), is.holdEnded(20, "expired", "apr_17")]);
  const bundle = { id: "bun_2", index: 0, undo: false };
  const often = Array.from({ length: 111 }, (_, n) => n + 1);
  told("evt_14", (is) => [
    is.admitted(),
    ...often.flatMap((n) => [is.started(n, n), is.attemptFailed(n, n, at(n + 1))]),
  ]);
  told("evt_13", (is) => [is.admitted({ bundle }), is.started(1, 10), is.succeeded(1, 11), is.delivered(11)]);
  told("evt_11", (is) => [is.admitted(), is.started(1, 10), is.cancelling(11), quoted(is.cancelled(50, 1))]);
};

/** The record with a person's words after a sentence of the program. */
const quoted = <E extends ApprovalEvent | BundleEvent | DeliveryEvent>(event: E): E => {
  const reason = { sentence: "The agent was suspended", words: words("too much") };
  return { ...event, data: { ...event.data, reason } };
};

const approvals = (log: History): void => {
  const told = (id: string, over: Partial<ApprovalRequest>, tell: Tell): void => {
    const is = approvalFacts(id, over);
    for (const fact of [is.requested(), ...tell(is)]) log.add(`approval-${id}`, fact);
  };
  type Tell = (facts: ReturnType<typeof approvalFacts>) => readonly ApprovalEvent[];
  const replayed = { kind: "agent", id: "agt_1", name: "refunds", member: "mem_1" } as const;
  told("apr_8", { action: null, cost: null, policy: null }, (is) => [
    is.voted("mem_1", "approve", 5, "fine", { shown: { form: "redacted", hidden: ["/card"] }, shown_digest: "s1" }),
  ]);
  told("apr_9", { requested_by: replayed, requesters: ["mem_1"] }, (is) => [
    is.voted("mem_1", "reject", 19),
    is.rejected(19),
  ]);
  told("apr_10", {}, (is) => [is.voted("mem_1", "approve", 19), is.granted(19)]);
  told("apr_11", { subject: { kind: "bundle", id: "bun_1" } }, (is) => [is.expired(3_600)]);
  told("apr_13", {}, (is) => [is.voided(5, "apr_14")]);
  const target = { kind: "agent", id: "agt_1" } as const;
  const asker = { kind: "member", id: "mem_1", name: "mem_1", member: "mem_1" } as const;
  const change = { target, before: { policy_id: "pol_1" }, after: { policy_id: null } };
  told("apr_15", { subject: { kind: "change", id: "chg_1" }, requested_by: asker, change }, () => []);
  told("apr_16", {}, (is) => [quoted(is.cancelled(5))]);
  told("apr_14", { replaces: { approval_id: "apr_13", digest: "d1" } }, () => []);
  told("apr_12", { subject: { kind: "bundle", id: "bun_2" } }, (is) => [
    is.voted("mem_1", "approve", 5),
    is.granted(5),
  ]);
};

const bundles = (log: History): void => {
  type Tell = (facts: ReturnType<typeof bundleFacts>) => readonly BundleEvent[];
  const told = (id: string, tell: Tell): void => {
    for (const fact of tell(bundleFacts(id))) log.add(`bundle-${id}`, fact);
  };
  const by = { approval_id: "apr_11" };
  told("bun_1", (is) => [is.held(by), is.holdEnded(9, "expired", "apr_11"), is.spent(9, null)]);
  told("bun_2", (is) => [
    is.held({ approval_id: "apr_12" }),
    is.released(5, "apr_12"),
    ...[is.started(0, 6), is.ended(0, 7, "succeeded", null), is.started(1, 8), is.ended(1, 9, "succeeded")],
    ...[is.committed(9, "The cancellation came too late: said so"), is.spent(9, 10_000, [0, 10_000])],
  ]);
  const bare = { name: null, run: { id: null, depth: 0 }, cost: null, steps: [bundleStep(0, { cost: null }, "bun_3")] };
  told("bun_3", (is) => [is.blocked({ ...bare, verdict: { ...VIOLATED, decision: "deny", policy: null } })]);
  const steps = [0, 1, 2].map((index) => bundleStep(index, { uses_results: index > 0 }, "bun_4"));
  told("bun_4", (is) => [
    is.admitted({ steps }),
    ...[is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3), is.ended(1, 4, "unknown")],
    ...[is.refused(2, 5), is.rollback(5, 2, words("by hand"))],
    ...[is.undoing(1, 6), is.undone(1, 7, "failed", -1_000), is.undoing(0, 8), is.undone(0, 9, "compensated", 500)],
    ...[is.incomplete(9, 1), is.spent(9, 9_500, [500, 9_000, null])],
  ]);
  const alone = bundleStep(0, { compensation: null, reversibility: "irreversible", cost: null }, "bun_5");
  told("bun_5", (is) => [
    ...[is.admitted({ steps: [alone] }), is.started(0, 1), is.ended(0, 2, "unknown", 0), is.rollback(2, 0)],
    ...[is.undone(0, 2, "impossible"), is.incomplete(2, 0), is.spent(2, 0, [0]), is.resolved(0, 60)],
  ]);
  told("bun_6", (is) => [
    ...[
      is.abandoned(1),
      is.admitted(),
      is.started(0, 2),
      is.ended(0, 3, "failed", null, { never_sent: true }),
      quoted(is.rollback(3, 0)),
    ],
    ...[is.undone(0, 3, "not-needed"), is.rolledBack(3), is.spent(3, null, [null, null])],
  ]);
  told("bun_7", (is) => [is.admitted({ verdict: UNDER_TWO }), is.started(0, 1)]);
};

const replays = (log: History): void => {
  type Tell = (facts: ReturnType<typeof deliveryFacts>) => readonly DeliveryEvent[];
  const told = (id: string, tell: Tell): void => {
    for (const fact of tell(deliveryFacts(id))) log.add(`delivery-${id}`, fact);
  };
  const of = (id: string, tell: (facts: ReturnType<typeof replayFacts>) => readonly ReplayEvent[]): void => {
    for (const fact of tell(replayFacts(id))) log.add(`replay-${id}`, fact);
  };
  const narrow = { status: "blocked", source_id: "src_1", endpoint_id: "end_1", from: at(0), to: at(99) } as const;
  of("rpl_1", (is) => [is.started()]);
  of("rpl_2", (is) => [byKey(is.started(narrow, null)), is.progressed(1, null), is.cancelled(2)]);
  const steps = [{ reason: "bundle-step", count: 2 }] as const;
  of("rpl_3", (is) => [is.started({ status: "failed" }, words("mended"), 3, steps), byKey(is.cancelled(2, null))]);
  const end = (it: DeliveryEvent): DeliveryEvent =>
    ({ ...it, data: { ...it.data, replay_id: "rpl_1" } }) as DeliveryEvent;
  const failing: Tell = (is) => [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)];
  told("evt_20", (is) => [...failing(is), is.replayed(60)]);
  told("evt_21", (is) => [...failing(is), is.replayed(60, { reason: null }), is.started(2, 61), is.succeeded(2, 62)]);
  told("evt_21", (is) => [end(is.delivered(62, at(60)))]);
  told("evt_22", (is) => [...failing(is), is.replayed(60), is.started(2, 61, "replay"), is.attemptFailed(2, 62, null)]);
  told("evt_22", (is) => [end(is.failed(62))]);
  const again = { replay: { id: "rpl_1", by: { kind: "key", id: "key_1" }, reason: null } } as const;
  told("evt_23", (is) => [is.blocked(), is.blocked(again)]);
  told("evt_24", (is) => [is.blocked(), is.held({ approval_id: "apr_24" }, again)]);
  told("evt_25", (is) => [is.blocked(), is.admitted(again)]);
  told("evt_27", (is) => [is.admitted({ sample: { by: { kind: "key", id: "key_1" } } })]);
  told("evt_26", (is) => [is.admitted({ bundle: { id: "bun_1", index: 1, undo: true } }), is.started(1, 70)]);
  of("rpl_4", (is) => [is.started(), is.progressed(2, { received_at: at(0), id: "evt_22" }, 1), is.finished(3)]);
};

const byKey = <E extends ReplayEvent>(event: E): E =>
  ({ ...event, data: { ...event.data, by: { kind: "key", id: "key_1" } } }) as E;

/** Every type of event that a view is folded from, with each of its members set and, where it can be, null or missing. */
export const broadHistory = (): History => {
  const log = history();
  people(log);
  subscriptions(log);
  sources(log);
  policies(log);
  endpoints(log);
  agents(log);
  actions(log);
  deliveries(log);
  approvals(log);
  bundles(log);
  replays(log);
  log.add("checkpoint-status", { type: "StatusObserved", data: { status: "operational", at: at(0) } }, { account: "" });
  return log;
};
