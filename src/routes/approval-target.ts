import { isOverdue, type RequestedApproval } from "../../domain/approval/decider.ts";
import { type Bundle, bundle } from "../../domain/bundle/decider.ts";
import type { BundleRequest } from "../../domain/bundle/events.ts";
import { bundleStatus } from "../../domain/bundle/status.ts";
import { type Delivery, delivery } from "../../domain/delivery/decider.ts";
import type { HoldOutcome, PayloadRef } from "../../domain/delivery/events.ts";
import { statusOf as deliveryStatus } from "../../domain/delivery/status.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports.ts";
import type { Aggregates } from "../aggregates.ts";
import { bundleStream } from "../bundles/bundle-id.ts";
import { asOfNow, stoppedBecause } from "../execute/stopped.ts";
import { payloadDamaged } from "../payload-damage.ts";
import type { Payloads } from "../payloads.ts";
import { type Problem, problem } from "../problems.ts";
import { type Known, readOn } from "../run-command.ts";
import type { JsonSchema } from "./route.ts";

/** Where it goes, as the endpoint is at this moment. */
export type ApprovalTarget = { readonly id: string; readonly name: string; readonly url: string };

/** What an approval is for, as its stream has it up to a position. */
export type ApprovalSubject = {
  /** Why it was cancelled or its hold was ended; null if it was not. */ readonly endedBecause: string | null;
} & (({ readonly kind: "event" } & Known<Delivery>) | ({ readonly kind: "bundle" } & Known<Bundle>));

export const APPROVAL_TARGET: JsonSchema = {
  type: ["object", "null"],
  required: ["id", "name", "url"],
  properties: { id: { type: "string" }, name: { type: "string" }, url: { type: "string" } },
  description: "Where it goes, as the endpoint is now; null when it was deleted, or there is none",
};

/** How its hold has ended; null as long as it is held, and of what has gone on. */
export const holdEndOf = ({ kind, state }: ApprovalSubject): HoldOutcome | null => {
  if (kind === "bundle") return state.phase === "ended-hold" ? state.outcome : null;
  return state.phase === "ended" ? state.end : null;
};

/** Records that say why nothing of a request is sent any more. */
const ENDS: ReadonlySet<string> = new Set(["HoldEnded", "EventCancelled", "BundleHoldEnded"]);

export const subjectOf = async (log: EventLog, { request }: RequestedApproval): Promise<ApprovalSubject> => {
  const { kind, id } = request.subject;
  let endedBecause: string | null = null;
  const seen = ({ type, data }: RecordedEvent): void => {
    if (ENDS.has(type)) endedBecause = String(data.reason);
  };
  if (kind === "bundle") {
    const from = { state: bundle.initial, revision: null };
    return { kind, ...(await readOn(log, bundle, bundleStream(id), from, seen)), endedBecause };
  }
  const from = { state: delivery.initial, revision: null };
  return { kind, ...(await readOn(log, delivery, `delivery-${id}`, from, seen)), endedBecause };
};

/** What has become of the request so far, in the words of its event or bundle. */
export const outcomeOf = ({ kind, state, endedBecause }: ApprovalSubject) => ({
  status: kind === "bundle" ? bundleStatus(state) : deliveryStatus(state),
  reason: endedBecause,
});

export const endpointShown = async (aggregates: Aggregates, id: string): Promise<ApprovalTarget | null> => {
  // Not a moment old: it may have been sent elsewhere just now.
  const { state } = await aggregates.load(endpoint, `endpoint-${id}`, 0);
  return state.phase === "present" ? { id, name: state.settings.name, url: state.settings.url } : null;
};

const endpointIdOf = (state: Delivery): string | null => ("request" in state ? state.request.endpoint_id : null);

/** Of an event; each step of a bundle has its own. */
export const targetOf = async (aggregates: Aggregates, subject: ApprovalSubject): Promise<ApprovalTarget | null> => {
  const id = subject.kind === "event" ? endpointIdOf(subject.state) : null;
  return id === null ? null : endpointShown(aggregates, id);
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

const eventHindrance = async ({ aggregates, payloads }: HindranceDeps, state: Delivery): Promise<Problem | null> => {
  if (state.phase !== "held") return null;
  if (state.erased) return problem("conflict", ERASED);
  const id = endpointIdOf(state);
  if (id !== null && (await endpointShown(aggregates, id)) === null)
    return problem("conflict", "The endpoint of this request was deleted, so it cannot be delivered. Reject it.");
  const { event_id, payload } = state.request;
  return payloadHindrance(payloads, event_id, payload);
};

const deletedOf = async (aggregates: Aggregates, { steps }: BundleRequest): Promise<string | null> => {
  for (const { index, action, endpoint_id, compensation } of steps) {
    if ((await endpointShown(aggregates, endpoint_id)) === null) return `step ${index} (${action.name})`;
    if (compensation !== null && (await endpointShown(aggregates, compensation.endpoint_id)) === null)
      return `the compensation of step ${index} (${compensation.name})`;
  }
  return null;
};

const bundleHindrance = async ({ aggregates, payloads }: HindranceDeps, state: Bundle): Promise<Problem | null> => {
  if (state.phase !== "held") return null;
  const { bundle_id, payload } = state.request;
  const hindrance = await payloadHindrance(payloads, bundle_id, payload);
  if (hindrance !== null) return hindrance;
  const deleted = await deletedOf(aggregates, state.request);
  if (deleted === null) return null;
  return problem("conflict", `The endpoint of ${deleted} was deleted, so the bundle cannot be executed. Reject it.`);
};

export type HindranceDeps = {
  readonly aggregates: Aggregates;
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
};

/** Why nobody can approve it though it is still to be decided; null for nothing. What is decided, the decider says. */
export const approvalHindrance = async (
  deps: HindranceDeps,
  it: RequestedApproval,
  at: string,
): Promise<Problem | null> => {
  if (it.end !== null || isOverdue(it.request, at)) return null;
  const subject = await subjectOf(deps.log, it);
  const over = holdEndOf(subject);
  // Told to its approval a moment later.
  if (over !== null) return problem("already-decided", `Nothing is left to decide: it was ${over} meanwhile.`);
  const { kind, state } = subject;
  const stopped = state.phase === "held" ? await stoppedBecause(asOfNow(deps.aggregates), state.request) : null;
  // Its cancellation follows a moment later.
  if (stopped !== null) {
    return problem("already-decided", `Nothing is left to decide, because nothing will be sent. ${stopped}.`);
  }
  return kind === "event" ? eventHindrance(deps, state) : bundleHindrance(deps, state);
};
