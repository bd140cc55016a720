import { type ApprovalEvent, type ApprovalRequest, FORM_NOT_STATED, type Vote } from "../../domain/approval/events.ts";
import type { BundleEvent, BundleRequest, Step, UndoOutcome } from "../../domain/bundle/events.ts";
import { defined } from "../../domain/defined.ts";
import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { DeliveryEvent, HeldFor, HoldOutcome, Request, StepOutcome } from "../../domain/delivery/events.ts";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Reason, Words } from "../../domain/personal/words.ts";
import type { Actor, EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ReplayCursor, ReplayEvent, ReplayFilter } from "../../domain/replay/events.ts";
import type { SkipCount } from "../../domain/replay/skips.ts";
import { saltedHash } from "../../src/streams/commitments.ts";
import { decodeBody } from "../../src/streams/payload-encoding.ts";
import { addressed, words } from "./personal-words.ts";

export const START = Date.UTC(2026, 2, 1, 12);
/** Seconds behind the start, as the log writes times. */
export const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

export type Fact = { readonly type: string; readonly data: JsonObject };
type About = { readonly account?: string; readonly actor?: Actor; readonly at?: string };

export type History = {
  readonly events: RecordedEvent[];
  add(
    stream: string,
    fact: Fact | DeliveryEvent | ApprovalEvent | BundleEvent | ReplayEvent,
    about?: About,
  ): RecordedEvent;
};

/** Records as a log would have them: revisions a stream, positions over all. */
export const history = (): History => {
  const events: RecordedEvent[] = [];
  const revisions = new Map<string, number>();
  return {
    events,
    add(stream, fact, about = {}) {
      const revision = (revisions.get(stream) ?? -1) + 1;
      revisions.set(stream, revision);
      const number = events.length + 1;
      const event: RecordedEvent = {
        id: `00000000-0000-8000-a000-${String(number).padStart(12, "0")}`,
        type: fact.type,
        // Every event type is plain JSON; the compiler cannot see that of types with optional members.
        data: fact.data as unknown as JsonObject,
        meta: {
          account: about.account ?? "acc_1",
          actor: about.actor ?? { kind: "system", id: "deliverer" },
          command_id: `cmd_${number}`,
          trace_id: "0af7651916cd43dd8448eb211c80319c",
          span_id: "b7ad6b7169203331",
          causation_id: null,
          recorded_at: about.at ?? at(number),
          schema: 1,
        },
        stream,
        revision,
        position: String(number).padStart(16, "0"),
      };
      events.push(event);
      return event;
    },
  };
};

/** What facts say of a payload's hash, as nobody has stored it yet. */
const NO_HASH = "00";

type Hashed = { readonly payload?: { readonly revision: number; readonly commitment: string } };

/** With the hashes of the payloads that are among the events: those are checked before anything is shown or sent. */
const withHashes = (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const hashes = new Map<string, string>();
  for (const { stream, revision, type, data } of events) {
    if (type !== "PayloadKept" || typeof data.salt !== "string" || typeof data.body !== "string") continue;
    const { salt, ...body } = data as unknown as Extract<PayloadEvent, { type: "PayloadKept" }>["data"];
    hashes.set(`${stream}/${revision}`, saltedHash(Buffer.from(salt, "base64"), decodeBody(body)));
  }
  return events.map((event) => {
    const { payload } = event.data as Hashed;
    const id = event.data.event_id ?? event.data.bundle_id;
    const commitment = payload?.commitment === NO_HASH ? hashes.get(`payload-${id}/${payload.revision}`) : undefined;
    return commitment === undefined
      ? event
      : { ...event, data: { ...event.data, payload: { ...payload, commitment } } };
  });
};

/** Writes a history into a log, which gives it the same revisions. */
export const appendTo = async (log: EventLog, events: readonly RecordedEvent[]): Promise<void> => {
  for (const { stream, revision, position: _, ...event } of withHashes(events))
    await log.append(stream, revision === 0 ? "absent" : revision - 1, [event]);
};

export const request = (over: Partial<Request> = {}): Request => ({
  event_id: "evt_1",
  origin: { kind: "source", id: "src_1", name: "shop", type: "stripe" },
  delivery_key: "evt_stripe",
  type: "payment_intent.succeeded",
  payload: { revision: 0, content_type: "application/json", size: 2, commitment: NO_HASH },
  endpoint_id: "end_1",
  verdict: { decision: "allow", policy: { id: "pol_1", version: 1 }, gates: [] },
  cost: 20_000,
  received_at: at(0),
  authenticated_at: at(0),
  at: at(0),
  ...over,
});

export const heldFor = (over: Partial<HeldFor> = {}): HeldFor => ({
  approval_id: "apr_1",
  digest: "d1",
  min_approvals: 1,
  exclude_requester: false,
  expires_at: at(3_600),
  reasons: ["The policy asks for an approval of every request."],
  requesters: [],
  ...over,
});

export const SERVER_ERROR: Failure = { kind: "http-5xx", detail: "The receiver answered 503" };

/** The facts of one event's delivery, all about the same event and endpoint. */
export const deliveryFacts = (event_id = "evt_1", endpoint_id = "end_1") => {
  const ids = { event_id, endpoint_id };
  const end = (number: number, second: number, duration_ms: number) => ({
    ...ids,
    number,
    at: at(second),
    duration_ms,
    timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: duration_ms, total: duration_ms },
  });
  return {
    admitted: (over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventAdmitted",
      data: request({ ...ids, ...over }),
    }),
    blocked: (over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventBlocked",
      data: request({ ...ids, verdict: { decision: "deny", policy: null, gates: [] }, ...over }),
    }),
    held: (approval: Partial<HeldFor> = {}, over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventHeld",
      data: {
        ...request({ ...ids, verdict: { decision: "hold", policy: { id: "pol_1", version: 1 }, gates: [] }, ...over }),
        approval: heldFor(approval),
      },
    }),
    /** `used`: it was released by `apr_1` before. */
    heldAgain: (second: number, used: boolean, over: Partial<Request> = {}): DeliveryEvent => ({
      type: "EventHeldAgain",
      data: {
        ...request({ ...ids, verdict: { decision: "hold", policy: { id: "pol_1", version: 1 }, gates: [] }, ...over }),
        approval: heldFor({ approval_id: "apr_2", digest: "d2" }),
        previous: { approval_id: "apr_1", digest: "d1", used },
        held_at: at(second),
      },
    }),
    releasedAgain: (second: number, attempts: number): DeliveryEvent => ({
      type: "EventReleased",
      data: {
        ...{ event_id, approval_id: "apr_2", digest: "d2", origin_kind: "source", endpoint_id },
        ...{ observed: false, held_at: at(0), attempts, at: at(second) },
      },
    }),
    released: (second: number, approval_id = "apr_1", to: string | null = endpoint_id): DeliveryEvent => ({
      type: "EventReleased",
      data: {
        event_id,
        approval_id,
        digest: "d1",
        origin_kind: "source",
        endpoint_id: to,
        observed: false,
        held_at: at(0),
        at: at(second),
      },
    }),
    holdEnded: (second: number, outcome: HoldOutcome, approval_id = "apr_1"): DeliveryEvent => ({
      type: "HoldEnded",
      data: { event_id, approval_id, outcome, reason: "said so", at: at(second) },
    }),
    cancelling: (second: number): DeliveryEvent => ({
      type: "CancellationRequested",
      data: { event_id, reason: "suspended", at: at(second) },
    }),
    cancelled: (second: number, attempts = 0): DeliveryEvent => ({
      type: "EventCancelled",
      data: { ...ids, attempts, reason: "suspended", at: at(second) },
    }),
    started: (number: number, second: number, trigger: "auto" | "replay" = "auto"): DeliveryEvent => ({
      type: "AttemptStarted",
      data: { ...ids, number, trigger, node: "node_1", lease_until: at(second + 30), at: at(second) },
    }),
    succeeded: (number: number, second: number, durationMs = 40): DeliveryEvent => ({
      type: "AttemptSucceeded",
      data: { ...end(number, second, durationMs), status_code: 200 },
    }),
    delivered: (second: number, admittedAt = at(0)): DeliveryEvent => ({
      type: "EventDelivered",
      data: { ...ids, admitted_at: admittedAt, at: at(second) },
    }),
    attemptFailed: (number: number, second: number, next: string | null, durationMs = 40): DeliveryEvent => ({
      type: "AttemptFailed",
      data: {
        ...end(number, second, durationMs),
        status_code: 503,
        failure: SERVER_ERROR,
        retryable: next !== null,
        next_attempt_at: next,
      },
    }),
    failed: (second: number): DeliveryEvent => ({
      type: "DeliveryFailed",
      data: { ...ids, failure: SERVER_ERROR, at: at(second) },
    }),
    duplicates: (count: number, second: number): DeliveryEvent => ({
      type: "DuplicatesCounted",
      data: { event_id, count, at: at(second) },
    }),
    replayed: (second: number, over: { readonly id?: string; readonly reason?: Words | null } = {}): DeliveryEvent => ({
      type: "EventReplayed",
      data: {
        ...ids,
        replay_id: over.id ?? "rpl_1",
        by: { kind: "member", id: "mem_1" },
        reason: over.reason === undefined ? words("mended") : over.reason,
        attempts: 1,
        admitted_at: at(0),
        at: at(second),
      },
    }),
    erased: (second: number, upTo = 0): DeliveryEvent => ({
      type: "PayloadErased",
      data: { event_id, reason: "asked for", up_to: upTo, at: at(second) },
    }),
  };
};

/** The facts of one approval, of the event of the same number. */
export const approvalFacts = (approval_id = "apr_1", over: Partial<ApprovalRequest> = {}) => {
  const subject = over.subject ?? ({ kind: "event", id: approval_id.replace("apr_", "evt_") } as const);
  const about = (second: number) => ({ approval_id, subject, at: at(second) });
  return {
    requested: (): ApprovalEvent => ({
      type: "ApprovalRequested",
      data: {
        approval_id,
        account: "acc_1",
        subject,
        action: "payment_intent.succeeded",
        summary: 'Source "shop" (stripe) sent payment_intent.succeeded, 0.02 EUR',
        digest: "d1",
        cost: 20_000,
        requested_by: { kind: "source", id: "src_1", name: "shop" },
        requested_at: at(0),
        expires_at: at(3_600),
        min_approvals: 1,
        exclude_requester: false,
        requesters: [],
        policy: { id: "pol_1", version: 1 },
        reasons: ["The policy asks for an approval of every request."],
        ...over,
      },
    }),
    voted: (
      member_id: string,
      decision: Vote["decision"],
      second: number,
      comment: string | null = null,
      form: Pick<Vote, "shown" | "shown_digest"> = FORM_NOT_STATED,
    ): ApprovalEvent => ({
      type: "VoteCast",
      data: {
        approval_id,
        member_id,
        ...addressed(`${member_id}@example.com`),
        decision,
        comment: comment === null ? null : words(comment),
        ...form,
        digest: "d1",
        at: at(second),
      },
    }),
    granted: (second: number): ApprovalEvent => ({
      type: "ApprovalGranted",
      data: { ...about(second), digest: "d1" },
    }),
    rejected: (second: number, reason: Reason = words("no")): ApprovalEvent => ({
      type: "ApprovalRejected",
      data: { ...about(second), reason },
    }),
    expired: (second: number): ApprovalEvent => ({ type: "ApprovalExpired", data: about(second) }),
    cancelled: (second: number, reason: Reason = "suspended"): ApprovalEvent => ({
      type: "ApprovalCancelled",
      data: { ...about(second), reason },
    }),
    voided: (second: number, next: string): ApprovalEvent => ({
      type: "ApprovalVoided",
      data: { ...about(second), digest: "d1", next: { approval_id: next, digest: "d2" }, reason: "changed" },
    }),
  };
};

const PAYLOAD_REF = { revision: 0, content_type: "application/json", size: 2, commitment: NO_HASH } as const;

/** The step of a bundle: compensable, for a cent. */
export const bundleStep = (index: number, over: Partial<Step> = {}, bundle_id = "bun_1"): Step => ({
  index,
  event_id: `evt_${bundle_id}_${index}`,
  undo_event_id: `evt_${bundle_id}_${index}_undo`,
  action: { name: `act.${index}`, version: 1, digest: `d${index}` },
  endpoint_id: "end_1",
  reversibility: "compensable",
  compensation: { name: `undo.${index}`, version: 1, endpoint_id: "end_2" },
  uses_results: false,
  cost: 10_000,
  ...over,
});

/** Of two compensable steps. */
export const bundleRequest = (over: Partial<BundleRequest> = {}): BundleRequest => ({
  bundle_id: "bun_1",
  name: "order 17",
  origin: { kind: "agent", id: "agt_1", name: "orders", type: "agent" },
  key: "order-17",
  steps: [bundleStep(0, {}, over.bundle_id), bundleStep(1, {}, over.bundle_id)],
  run: { id: "run_1", depth: 0 },
  payload: PAYLOAD_REF,
  digest: "d1",
  verdict: { decision: "allow", policy: { id: "pol_1", version: 1 }, gates: [] },
  cost: 20_000,
  ledgers: ["ledger-pol_1-2026-03-01"],
  received_at: at(0),
  at: at(0),
  ...over,
});

/** The facts of one bundle. */
export const bundleFacts = (bundle_id = "bun_1") => {
  const about = (second: number) => ({ bundle_id, at: at(second) });
  return {
    admitted: (over: Partial<BundleRequest> = {}): BundleEvent => ({
      type: "BundleAdmitted",
      data: bundleRequest({ bundle_id, ...over }),
    }),
    blocked: (over: Partial<BundleRequest> = {}): BundleEvent => ({
      type: "BundleBlocked",
      data: bundleRequest({ bundle_id, verdict: { decision: "deny", policy: null, gates: [] }, ...over }),
    }),
    held: (approval: Partial<HeldFor> = {}, over: Partial<BundleRequest> = {}): BundleEvent => ({
      type: "BundleHeld",
      data: { ...bundleRequest({ bundle_id, ...over }), approval: heldFor(approval) },
    }),
    abandoned: (second: number): BundleEvent => ({ type: "BundleAbandoned", data: about(second) }),
    released: (second: number, approval_id = "apr_1"): BundleEvent => ({
      type: "BundleReleased",
      data: { ...about(second), approval_id, digest: "d1" },
    }),
    holdEnded: (second: number, outcome: HoldOutcome, approval_id = "apr_1"): BundleEvent => ({
      type: "BundleHoldEnded",
      data: { ...about(second), approval_id, outcome, reason: "said so" },
    }),
    started: (index: number, second: number): BundleEvent => ({
      type: "StepStarted",
      data: { ...about(second), index, event_id: `evt_${bundle_id}_${index}`, payload: PAYLOAD_REF },
    }),
    refused: (index: number, second: number): BundleEvent => ({
      type: "StepRefused",
      data: { ...about(second), index, code: "missing-result", detail: "step 0 has answered nothing" },
    }),
    ended: (
      index: number,
      second: number,
      outcome: StepOutcome,
      cost: number | null = 10_000,
      said: { readonly reported?: true; readonly never_sent?: true } = {},
    ): BundleEvent => ({
      type: "StepEnded",
      data: { ...about(second), index, event_id: `evt_${bundle_id}_${index}`, outcome, cost, ...said },
    }),
    rollback: (second: number, index: number | null = null, reason: Reason = "said so"): BundleEvent => ({
      type: "RollbackStarted",
      data: { ...about(second), reason, index },
    }),
    undoing: (index: number, second: number): BundleEvent => ({
      type: "UndoStarted",
      data: { ...about(second), index, event_id: `evt_${bundle_id}_${index}_undo`, payload: PAYLOAD_REF },
    }),
    undone: (
      index: number,
      second: number,
      outcome: UndoOutcome,
      cost: number | null = null,
      gives_back?: string,
    ): BundleEvent => ({
      type: "StepUndone",
      data: defined({ ...about(second), index, outcome, cost, gives_back }),
    }),
    committed: (second: number, reason?: string): BundleEvent => ({
      type: "BundleCommitted",
      data: { ...about(second), ...(reason === undefined ? {} : { reason }) },
    }),
    rolledBack: (second: number): BundleEvent => ({ type: "BundleRolledBack", data: about(second) }),
    incomplete: (second: number, ...left: readonly number[]): BundleEvent => ({
      type: "RollbackIncomplete",
      data: { ...about(second), left },
    }),
    resolved: (index: number, second: number): BundleEvent => ({
      type: "StepResolved",
      data: { ...about(second), index, by: "mem_1", comment: words("by phone") },
    }),
    /** `events`: of the steps that were started, which are those with a cost unless one was never sent. */
    spent: (
      second: number,
      cost: number | null,
      steps?: readonly (number | null)[],
      events: readonly string[] = (steps ?? []).flatMap((cost, index) =>
        cost === null ? [] : [`evt_${bundle_id}_${index}`],
      ),
    ): BundleEvent => ({
      type: "BundleCostDetermined",
      data: {
        ...{ ...about(second), ledgers: ["ledger-pol_1-2026-03-01"], estimate: 20_000, cost },
        ...(steps === undefined ? {} : { steps, events }),
      },
    }),
  };
};

const changed = (count: number) => (count === 0 ? [] : [{ reason: "changed", count } as const]);

/** The facts of one replay of many events. */
export const replayFacts = (replay_id = "rpl_1") => ({
  started: (
    filter: ReplayFilter = { status: "failed" },
    reason: Words | null = words("mended"),
    total = 3,
    excluded: readonly SkipCount[] = [],
  ): ReplayEvent => ({
    type: "ReplayStarted",
    data: {
      replay_id,
      account: "acc_1",
      filter,
      total,
      excluded,
      rate_per_second: 10,
      by: { kind: "member", id: "mem_1" },
      reason,
      up_to: "0000000000000100",
      log: "log_1",
      at: at(0),
    },
  }),
  progressed: (second: number, cursor: ReplayCursor | null, skipped = 0, node = "node_1"): ReplayEvent => ({
    type: "ReplayProgressed",
    data: { replay_id, cursor, skipped, skipped_by: changed(skipped), node, at: at(second) },
  }),
  cancelled: (second: number, reason: Words | null = words("enough")): ReplayEvent => ({
    type: "ReplayCancelled",
    data: { replay_id, by: { kind: "member", id: "mem_1" }, reason, at: at(second) },
  }),
  finished: (second: number): ReplayEvent => ({ type: "ReplayFinished", data: { replay_id, at: at(second) } }),
});

export const endpointRegistered = (endpoint_id = "end_1"): Fact => ({
  type: "EndpointRegistered",
  data: {
    endpoint_id,
    account: "acc_1",
    name: "orders",
    url: "https://example.com/hook",
    timeout_ms: 10_000,
    retry_schedule_s: [5, 30],
    concurrency: 8,
    rate_per_second: null,
    headers: { authorization: { sealed: "sealed-header", digest: "d-header" } },
    notifications: [],
    policy_id: null,
    secret: "sealed-secret",
    at: at(0),
  },
});
