import { isOverdue, type RequestedApproval } from "../../../domain/approval/state.ts";
import { CHANGED } from "../../../domain/approval/terms.ts";
import { bundle } from "../../../domain/bundle/decider.ts";
import type { BundleRequest, HeldBundle } from "../../../domain/bundle/events.ts";
import type { Bundle } from "../../../domain/bundle/state.ts";
import { bundleStatus } from "../../../domain/bundle/status.ts";
import { type Change, change } from "../../../domain/change/decider.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { Bound, HeldFor, HeldRequest, HoldOutcome, PayloadRef, Request } from "../../../domain/delivery/events.ts";
import type { Delivery } from "../../../domain/delivery/state.ts";
import { statusOf as deliveryStatus } from "../../../domain/delivery/status.ts";
import { endpoint } from "../../../domain/endpoint/decider.ts";
import { targetOf } from "../../../domain/endpoint/target.ts";
import type { Reason } from "../../../domain/personal/words.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { suspensionReason, uncached } from "../../accounts/agent-suspension.ts";
import type { ApprovalRenewal } from "../../approvals/approval-renewal.ts";
import { isHold } from "../../approvals/approval-requests.ts";
import type { AppliedChanges } from "../../change-control/held-changes.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { bundleStream } from "../../streams/bundle-id.ts";
import { changeStream } from "../../streams/change-stream.ts";
import type { Envelope, Trace } from "../../streams/envelope.ts";
import { payloadDamaged } from "../../streams/payload-damage.ts";
import type { Payloads } from "../../streams/payloads.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { foldStream, type StreamState } from "../../streams/run-command.ts";

/** Where the request goes: the endpoint's present name, with the URL and headers to which the approval is bound. */
export type ApprovalTarget = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly secret: boolean }[];
};

/** `asked` is the request as this approval has it; it may be held under another approval by now, for another target. */
type SubjectOf<K, S, Q> = { readonly kind: K; readonly asked: Q | null } & StreamState<S>;

export type ApprovalSubject = {
  /** The reason why the request or its hold was cancelled; null if neither was. */
  readonly endedBecause: Reason | null;
} & (
  | SubjectOf<"event", Delivery, Request>
  | SubjectOf<"bundle", Bundle, BundleRequest>
  | SubjectOf<"change", Change, never>
);

export const APPROVAL_TARGET: JsonSchema = named("ApprovalTarget", {
  type: ["object", "null"],
  required: ["id", "name", "url", "headers"],
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    url: { type: "string" },
    headers: {
      type: "array",
      items: named("TargetHeader", {
        type: "object",
        required: ["name", "secret"],
        properties: { name: { type: "string" }, secret: { type: "boolean" } },
      }),
      description: "The endpoint's own; the digest is bound to their values, to a secret one by its name alone",
    },
  },
  description: "Where it goes: what the digest is bound to. Null when the endpoint was deleted, or there is none",
});

/** How the hold ended other than by a release; null while the request is held, and after its release. */
export const holdEndOf = ({ kind, state }: ApprovalSubject): HoldOutcome | "void" | null => {
  if (kind === "change") return state.phase === "over" ? state.outcome : null;
  if (kind === "bundle") return state.phase === "stopped" ? state.outcome : null;
  return state.phase === "stopped" ? state.outcome : null;
};

/** Types of the records whose `reason` tells why a request will not be sent. */
const ENDS: ReadonlySet<string> = new Set(["HoldEnded", "EventCancelled", "BundleHoldEnded"]);

export const subjectOf = async (log: EventLog, { request }: RequestedApproval): Promise<ApprovalSubject> => {
  const { kind, id } = request.subject;
  let endedBecause: Reason | null = null;
  let held: RecordedEvent["data"] | null = null;
  const seen = (event: RecordedEvent): void => {
    const { type, data } = event;
    // The types in `ENDS` have a reason.
    if (ENDS.has(type)) endedBecause = (data as { readonly reason: Reason }).reason;
    // A request may be held several times; the record of each hold names its approval.
    if (isHold(event) && (data.approval as { approval_id: string }).approval_id === request.approval_id) held = data;
  };
  if (kind === "change") {
    const known = await foldStream(log, change, changeStream(id));
    return { kind, ...known, asked: null, endedBecause: known.state.phase === "over" ? known.state.reason : null };
  }
  if (kind === "bundle") {
    const known = await foldStream(log, bundle, bundleStream(id), { onEvent: seen });
    return { kind, ...known, asked: held as HeldBundle | null, endedBecause };
  }
  const known = await foldStream(log, delivery, `delivery-${id}`, { onEvent: seen });
  return { kind, ...known, asked: held as HeldRequest | null, endedBecause };
};

const changeStatus = (state: Change): string => (state.phase === "over" ? state.outcome : state.phase);

export const outcomeOf = ({ kind, state, endedBecause }: ApprovalSubject) => ({
  status: kind === "change" ? changeStatus(state) : kind === "bundle" ? bundleStatus(state) : deliveryStatus(state),
  reason: endedBecause,
});

export const endpointWithTarget = async (
  aggregates: Aggregates,
  id: string,
  bound: Bound | undefined,
): Promise<ApprovalTarget | null> => {
  // The endpoint may just have been deleted by another node, so its stream is read without the cache.
  const { state } = await aggregates.load(endpoint, `endpoint-${id}`, 0);
  if (state.phase !== "present") return null;
  const { url, headers } = bound?.target ?? targetOf(state);
  const shown = Object.entries(headers).map(([name, digest]) => ({ name, secret: digest === null }));
  return { id, name: state.settings.name, url, headers: shown };
};

/** Where an event goes; null for a bundle, as each of its steps has a target of its own, and for a change. */
export const targetAnswer = async (
  aggregates: Aggregates,
  { kind, asked }: ApprovalSubject,
): Promise<ApprovalTarget | null> => {
  if (kind !== "event" || asked === null || asked.endpoint_id === null) return null;
  return endpointWithTarget(aggregates, asked.endpoint_id, asked.bound);
};

const ERASED = "Its payload was erased: nothing is left to execute. Reject it.";

const payloadHindrance = async (
  payloads: HindranceDeps["payloads"],
  id: string,
  payload: PayloadRef,
): Promise<Problem | null> => {
  const stored = await payloads.read(id, payload);
  if (stored === "damaged") return payloadDamaged();
  return stored === null ? problem("conflict", ERASED) : null;
};

const isGone = async (aggregates: Aggregates, id: string): Promise<boolean> =>
  (await endpointWithTarget(aggregates, id, undefined)) === null;

/** The answer to a decision whose request is held under another approval, which has to be decided on instead. */
const replacedBy = ({ approval_id, reasons }: HeldFor): Problem =>
  problem(
    "digest-mismatch",
    `What would be sent, or where, has changed since this approval was asked for, so it is void: read and decide ${approval_id} instead.`,
    { extra: { approval_id, changes: reasons.filter((reason) => reason.startsWith(CHANGED)) } },
  );

type Asking = { readonly it: RequestedApproval; readonly trace: Trace };

const eventHindrance = async (
  { aggregates, payloads, renewal }: HindranceDeps,
  { it, trace }: Asking,
  state: Delivery,
): Promise<Problem | null> => {
  if (state.phase !== "held") return null;
  if (state.erased) return problem("conflict", ERASED);
  const { event_id, payload, endpoint_id: id } = state.request;
  if (id !== null && (await isGone(aggregates, id)))
    return problem("conflict", "The endpoint of this request was deleted, so it cannot be delivered. Reject it.");
  const { account, approval_id } = it.request;
  const { state: now } = await renewal.event(event_id, { account, trace });
  if (now.phase === "held" && now.approval.approval_id !== approval_id) return replacedBy(now.approval);
  return payloadHindrance(payloads, event_id, payload);
};

const deletedOf = async (aggregates: Aggregates, { steps }: BundleRequest): Promise<string | null> => {
  for (const { index, action, endpoint_id, compensation } of steps) {
    if (await isGone(aggregates, endpoint_id)) return `step ${index} (${action.name})`;
    if (compensation !== null && (await isGone(aggregates, compensation.endpoint_id)))
      return `the compensation of step ${index} (${compensation.name})`;
  }
  return null;
};

const bundleHindrance = async (
  { aggregates, payloads, renewal }: HindranceDeps,
  { it, trace }: Asking,
  state: Bundle,
): Promise<Problem | null> => {
  if (state.phase !== "held") return null;
  const { bundle_id, payload } = state.request;
  const hindrance = await payloadHindrance(payloads, bundle_id, payload);
  if (hindrance !== null) return hindrance;
  const deleted = await deletedOf(aggregates, state.request);
  if (deleted !== null) {
    return problem("conflict", `The endpoint of ${deleted} was deleted, so the bundle cannot be executed. Reject it.`);
  }
  const { account, approval_id } = it.request;
  const { state: now } = await renewal.bundle(bundle_id, { account, trace });
  return now.phase === "held" && now.approval.approval_id !== approval_id ? replacedBy(now.approval) : null;
};

export type HindranceDeps = {
  readonly aggregates: Aggregates;
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
  readonly renewal: ApprovalRenewal;
  readonly changes: AppliedChanges;
  readonly personal: Pick<PersonalData, "shown">;
};

/** The problem for which a pending request cannot be approved; null if nothing is in the way. */
export const approvalHindrance = async (
  deps: HindranceDeps,
  it: RequestedApproval,
  envelope: Envelope,
): Promise<Problem | null> => {
  const { at, trace } = envelope;
  if (it.end !== null || isOverdue(it.request, at)) return null;
  const subject = await subjectOf(deps.log, it);
  const over = holdEndOf(subject);
  // The hold has ended already; the approval's own stream records that a moment later.
  if (over !== null) return problem("already-decided", `Nothing is left to decide: it was ${over} meanwhile.`);
  const { kind, state } = subject;
  if (kind === "change") return deps.changes.hindrance(it.request.subject.id, envelope);
  const stopped = state.phase === "held" ? await suspensionReason(uncached(deps.aggregates), state.request) : null;
  if (stopped !== null) {
    return problem(
      "already-decided",
      `Nothing is left to decide, because nothing will be sent. ${typeof stopped === "string" ? stopped : stopped.sentence}.`,
      { extra: { reason: await deps.personal.shown(stopped, it.request.account) } },
    );
  }
  const asking = { it, trace };
  return kind === "event" ? eventHindrance(deps, asking, state) : bundleHindrance(deps, asking, state);
};
