import { type Approval, approval, type RequestedApproval } from "../../domain/approval/decider.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { EventLog, Position } from "../../domain/ports.ts";
import type { Aggregates } from "../aggregates.ts";
import { approvalStream, isApprovalId } from "../approvals.ts";
import type { Payloads } from "../payloads.ts";
import { type Form, formOf } from "./approval-form.ts";
import { peopleOf, peopleShown } from "./approval-people.ts";
import { approvalSummary, asShown, NOTHING_SHOWN, payloadShown } from "./approval-shown.ts";
import { stepsShown } from "./approval-steps.ts";
import { type ApprovalSubject, outcomeOf, subjectOf, targetShown } from "./approval-target.ts";
import { type Hidden, hiddenOfEvent, hiddenPaths } from "./hidden-fields.ts";
import { policyStream } from "./policies.ts";
import type { Call, Principal } from "./route.ts";

export type DetailDeps = {
  readonly aggregates: Aggregates;
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
};

/** The caller's own approval as its stream has it; null for any other id. */
export const ownApproval = async (
  { aggregates }: Pick<DetailDeps, "aggregates">,
  { principal, params }: Call,
): Promise<RequestedApproval | null> => {
  const { id = "" } = params;
  if (!isApprovalId(id)) return null;
  // Not a moment old: another node may have decided it just now.
  const { state }: { readonly state: Approval } = await aggregates.load(approval, approvalStream(id), 0);
  return state.phase === "requested" && state.request.account === principal.account ? state : null;
};

/** With the version that is in force: what is approved was held under the one that it names, whatever came after it. */
const policyShown = async ({ aggregates }: DetailDeps, { policy: held }: RequestedApproval["request"]) => {
  if (held === null) return null;
  const { state } = await aggregates.load(policy, policyStream(held.id));
  return { ...held, newest_version: state.phase === "published" ? state.version : held.version };
};

/**
 * What the policy keeps from this reader. A policy that hides a field from approvers says that they need not see it; what
 * they approve is bound by the digest.
 */
export const hiddenOfSubject = async (
  deps: DetailDeps,
  { kind, state }: ApprovalSubject,
  principal: Principal,
): Promise<Hidden> => {
  if (kind === "bundle" && "request" in state) return hiddenPaths(deps.log, state.request, principal);
  return kind === "event" && "request" in state ? hiddenOfEvent(deps, state.request, principal) : [];
};

/** What would be executed. */
const contentShown = async (deps: DetailDeps, { kind, asked }: ApprovalSubject, hidden: Hidden) => {
  if (asked === null) return NOTHING_SHOWN;
  return kind === "bundle" ? stepsShown(deps, asked, hidden) : payloadShown(deps, asked, hidden);
};

/** `position`: up to which the subject is shown. */
export type Detail = {
  readonly body: object;
  readonly form: Form;
  readonly subject: ApprovalSubject;
  readonly position: Position | undefined;
};

/** The approval for a reader from whom these fields are hidden; left out: those that the policy hides from them. */
export const detailOf = async (
  deps: DetailDeps,
  it: RequestedApproval,
  { principal, at, hidden }: { readonly principal: Principal; readonly at: string; readonly hidden?: Hidden },
): Promise<Detail> => {
  const subject = await subjectOf(deps.log, it);
  const summary = approvalSummary(it.request.approval_id, asShown(it, subject), at);
  const kept = hidden ?? (await hiddenOfSubject(deps, subject, principal));
  const endpoint = await targetShown(deps.aggregates, subject);
  const { hidden: shownWithout, salt, ...content } = await contentShown(deps, subject, kept);
  // What changes with votes and time is no part of what is decided on.
  const { status: _, votes: _votes, decided_at: _at, reason: _reason, replaced_by: _next, ...asked } = summary;
  const form = formOf({ ...asked, endpoint, ...content }, shownWithout, salt);
  const body = {
    ...summary,
    policy: await policyShown(deps, it.request),
    endpoint,
    ...content,
    hidden: form.hidden,
    shown_digest: form.shown_digest,
    ...peopleShown(it, await peopleOf(deps, it.request.account), at),
    outcome: outcomeOf(subject),
  };
  return { body, form, subject, position: subject.position };
};
