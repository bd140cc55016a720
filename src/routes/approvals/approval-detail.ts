import { approval } from "../../../domain/approval/decider.ts";
import type { Approval, RequestedApproval } from "../../../domain/approval/state.ts";
import { defined } from "../../../domain/defined.ts";
import { policy } from "../../../domain/policy/decider.ts";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import { approvalStream, isApprovalId } from "../../approvals/approvals.ts";
import type { ShownPayload } from "../../approvals/shown-forms.ts";
import type { ContentOrder } from "../../bodies/approval-content.ts";
import type { Form, FormSalt } from "../../bodies/approval-form.ts";
import { answerWith, type BodyReader, directBodyReader } from "../../bodies/body-reader.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import type { Answer, Call, Principal } from "../../http/route.ts";
import type { HiddenPaths } from "../../redaction/answer-redaction.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import type { Payloads } from "../../streams/payloads.ts";
import type { Problem } from "../../streams/problems.ts";
import { hiddenOfEvent, hiddenPaths } from "../events/hidden-fields.ts";
import { policyStream } from "../policies/policies.ts";
import { peopleAnswer, peopleOf } from "./approval-people.ts";
import { stepAnswers } from "./approval-steps.ts";
import { approvalSummary, documentOf } from "./approval-summary.ts";
import { type ApprovalSubject, outcomeOf, subjectOf, targetAnswer } from "./approval-target.ts";

export type DetailDeps = {
  readonly aggregates: Aggregates;
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
  readonly bodyReader?: BodyReader;
  readonly formSalt: FormSalt;
  readonly personal: Pick<PersonalData, "shown">;
};

/** The approval that the path names; null if it is not one of the caller's account. */
export const ownApproval = async (
  { aggregates }: Pick<DetailDeps, "aggregates">,
  { principal, params }: Pick<Call, "principal" | "params">,
): Promise<RequestedApproval | null> => {
  const { id = "" } = params;
  if (!isApprovalId(id)) return null;
  // Another node may just have decided on the approval, so its stream is read without the cache.
  const { state }: { readonly state: Approval } = await aggregates.load(approval, approvalStream(id), 0);
  return state.phase === "requested" && state.request.account === principal.account ? state : null;
};

/** Shows the policy's version under which the request was held, to which the approval is bound, and the newest one. */
const policyAnswer = async ({ aggregates }: DetailDeps, { policy: held }: RequestedApproval["request"]) => {
  if (held === null) return null;
  const { state } = await aggregates.load(policy, policyStream(held.id));
  return { ...held, newest_version: state.phase === "published" ? state.version : held.version };
};

/** The fields that the policy hides from this reader. The approval's digest covers them, so a vote includes them. */
export const hiddenOfSubject = async (
  deps: DetailDeps,
  { kind, state }: ApprovalSubject,
  principal: Principal,
): Promise<HiddenPaths> => {
  if (kind === "bundle" && "request" in state) return hiddenPaths(deps.log, state.request, principal);
  return kind === "event" && "request" in state ? hiddenOfEvent(deps, state.request, principal) : [];
};

type KeptContent = Pick<ContentOrder, "steps" | "kept" | "salt"> & { readonly payload: ShownPayload | null };

const contentKept = async (
  { aggregates, payloads, formSalt }: DetailDeps,
  { kind, asked }: ApprovalSubject,
  approvalId: string,
): Promise<KeptContent> => {
  if (asked === null) return { steps: null, kept: null, salt: formSalt(approvalId), payload: null };
  const id = kind === "bundle" ? asked.bundle_id : asked.event_id;
  const stored = await payloads.read(id, asked.payload);
  const steps = kind === "bundle" ? await stepAnswers(aggregates, asked) : null;
  if (stored === null || stored === "damaged")
    return { steps, kept: stored, salt: formSalt(approvalId), payload: null };
  const { body, salt } = stored;
  return { steps, kept: { body }, salt, payload: { subject: id, revision: asked.payload.revision } };
};

/** An approval as it is shown. `position` is that of the last record of the request that the answer rests on. */
export type Detail = {
  readonly answer: Pick<Answer, "body" | "headers">;
  readonly form: Form;
  readonly salt: Uint8Array;
  /** Null if no payload was shown: it is erased or damaged, or a change is to be decided. */
  readonly payload: ShownPayload | null;
  readonly subject: ApprovalSubject;
  readonly position: Position | undefined;
};

export type DetailAsked = {
  readonly principal: Principal;
  readonly at: string;
  /** The fields to hide; if left out, those that the policies hide from this reader. */
  readonly hidden?: HiddenPaths;
  /** True after a command, whose result is shown even if the account has used up its time for reading payloads. */
  readonly isDone?: true;
  readonly withBytes?: true;
};

/** What the reader is shown of an approval, and is to be read. `order` decides the digest of the shown form. */
export const shownOf = async (deps: DetailDeps, it: RequestedApproval, asking: DetailAsked) => {
  const { principal, at, hidden, withBytes } = asking;
  const subject = await subjectOf(deps.log, it);
  const summary = approvalSummary(it.request.approval_id, documentOf(it, subject), at);
  const kept = hidden ?? (await hiddenOfSubject(deps, subject, principal));
  const endpoint = await targetAnswer(deps.aggregates, subject);
  const { payload, ...content } = await contentKept(deps, subject, it.request.approval_id);
  // The digest of what is shown covers `asked`, which is the summary without the members that votes and time change.
  const { status: _, votes: _votes, decided_at: _at, reason: _reason, replaced_by: _next, ...asked } = summary;
  const title = subject.kind === "event" ? (subject.asked?.bound?.title ?? null) : null;
  const about = { asked: { ...asked, endpoint }, ...content, hidden: kept, title };
  const order: ContentOrder = { ...about, ...defined({ withBytes }) };
  return { subject, summary, endpoint, order, payload };
};

/** Answers with a problem only if the account has used up its time for reading, and `isDone` is not set. */
export const detailOf = async (
  deps: DetailDeps,
  it: RequestedApproval,
  shownTo: DetailAsked,
): Promise<Detail | Problem> => {
  const { at, isDone } = shownTo;
  const { bodyReader = directBodyReader } = deps;
  const { account } = it.request;
  const { subject, summary, endpoint, order, payload: of } = await shownOf(deps, it, shownTo);
  const busy = isDone === true ? null : bodyReader.busy(account, "content", order);
  if (busy !== null) return busy;
  const { payload, form, ...shown } = await bodyReader.run(account, "content", order);
  const { votes, reason } = summary;
  const words = await deps.personal.shown({ votes, reason, outcome: outcomeOf(subject) }, account);
  const body = {
    ...summary,
    ...words,
    policy: await policyAnswer(deps, it.request),
    endpoint,
    ...shown,
    hidden: form.hidden,
    shown_digest: form.shown_digest,
    ...peopleAnswer(it, await peopleOf(deps, account), at),
  };
  const answer = answerWith(body, "payload", payload);
  return { answer, form, salt: order.salt, payload: of, subject, position: subject.position };
};
