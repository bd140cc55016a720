import { session as sessionDecider } from "../../../domain/account/session.ts";
import type { ApprovalRejection } from "../../../domain/approval/commands.ts";
import { approval } from "../../../domain/approval/decider.ts";
import { FORM_NOT_STATED, type Vote } from "../../../domain/approval/events.ts";
import { type Approval, isOverdue, type RequestedApproval } from "../../../domain/approval/state.ts";
import { defined } from "../../../domain/defined.ts";
import type { Position } from "../../../domain/ports/event-log.ts";
import { approvals } from "../../../projections/approvals.ts";
import { events } from "../../../projections/events.ts";
import type { ApprovalReleases } from "../../approvals/approval-releases.ts";
import { approvalStream, isApprovalId } from "../../approvals/approvals.ts";
import { keepShownForm, type ShownForm } from "../../approvals/shown-forms.ts";
import { type Form, pointersOf } from "../../bodies/approval-form.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { listOf } from "../../http/listing.ts";
import {
  type Answer,
  type Call,
  type Handler,
  type Input,
  type Principal,
  positionOf,
  READERS,
  type Route,
  route,
} from "../../http/route.ts";
import type { ByteAllowances } from "../../ledgers/byte-allowances.ts";
import type { Envelope } from "../../streams/envelope.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";
import { latestOf } from "../../streams/run-command.ts";
import { type ContextDeps, context, recordRead } from "./approval-context.ts";
import { APPROVAL_CONTEXT } from "./approval-context-schema.ts";
import { type DetailAsked, detailOf, hiddenOfSubject, ownApproval } from "./approval-detail.ts";
import { LIST_QUERY, type ListDeps, list } from "./approval-list.ts";
import { peopleOf } from "./approval-people.ts";
import { mayReveal } from "./approval-reveal.ts";
import { APPROVAL, APPROVAL_DETAIL, APPROVE_BODY, REJECT_BODY } from "./approval-schemas.ts";
import { approvalHindrance, type HindranceDeps, subjectOf } from "./approval-target.ts";

export type ApprovalsDeps = ContextDeps &
  ListDeps &
  HindranceDeps & {
    readonly releases: Pick<ApprovalReleases, "releaseGranted" | "endRejected">;
    readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
    readonly allowances: Pick<ByteAllowances, "take">;
  };

type Handle<I extends Input = object> = (deps: ApprovalsDeps) => Handler<I>;
type OfOne = { readonly params: "id" };
/** A call with a vote. The schema of a rejection differs in that it requires the comment. */
type Voting = OfOne & { readonly body: typeof APPROVE_BODY };

const VIEW = approvals.schema.name;
/** If another approval has replaced this one, the problem names that approval. */
const alreadyDecided = (state: Approval): Problem => {
  const end = state.phase === "requested" ? state.end : null;
  const decided = end === null ? "" : ` It was ${end.outcome} at ${end.at}.`;
  if (end?.next === undefined) {
    const by = state.phase === "requested" ? state.votes.map(({ member_id }) => member_id) : [];
    const extra = end === null ? {} : { outcome: end.outcome, decided_at: end.at, decided_by: by };
    return problem("already-decided", `Nothing is left to decide.${decided}`, { extra });
  }
  return problem("already-decided", `Nothing is left to decide here.${decided} Read and decide ${end.next} instead.`, {
    extra: { approval_id: end.next, changes: typeof end.reason === "string" ? [end.reason] : [] },
  });
};

const PROBLEM_OF: Record<ApprovalRejection, (state: Approval) => Problem> = {
  "not-found": notFound,
  "not-due": () => problem("conflict", "It is not due yet."),
  "digest-mismatch": () =>
    problem("digest-mismatch", "The digest does not match this approval: read the approval again."),
  "already-decided": alreadyDecided,
  expired: () =>
    problem("expired", "The approval expired without a decision: the request was refused and must be sent again."),
  "self-approval": () =>
    problem(
      "self-approval",
      "The policy requires another person than the requester. You can still reject the request.",
    ),
};

/** `done` is the position of what the call has appended before. */
const visibleTo = async (
  deps: ApprovalsDeps,
  call: Call,
  it: RequestedApproval,
  { hidden, done }: Pick<DetailAsked, "hidden"> & { readonly done?: Position | undefined } = {},
): Promise<Answer | Problem> => {
  const { principal, envelope } = call;
  const asked = defined({ principal, at: envelope.at, hidden });
  const detail = await detailOf(deps, it, done === undefined ? asked : { ...asked, isDone: true });
  if ("problem" in detail) return detail;
  await recordRead(deps, call, detail.subject, it.request.approval_id);
  return { status: 200, ...detail.answer, ...positionOf({ position: latestOf(done, detail.position) }) };
};

const get: Handle<OfOne> = (deps) => async (call) => {
  const it = await ownApproval(deps, call);
  if (it === null) return notFound();
  const shown = await visibleTo(deps, call, it);
  if ("problem" in shown) return shown;
  const { position: _, ...answer } = shown;
  return answer;
};

const otherForm = ({ shown_digest, hidden }: Form): Problem =>
  problem(
    "digest-mismatch",
    "The shown_digest does not match the approval as it is shown to you: read the approval again.",
    { extra: { shown_digest, hidden } },
  );

/** What the record of a vote says of the form that its voter saw, and the form; null if the vote did not say. */
type Seen = { readonly said: Pick<Vote, "shown" | "shown_digest">; readonly form: ShownForm | null };

const NOT_STATED: Seen = { said: FORM_NOT_STATED, form: null };

/** Finds the form that has this digest among the forms that the voter could read; a problem if there is none. */
const formSeen = async (
  deps: ApprovalsDeps,
  it: RequestedApproval,
  { principal, at, digest }: { readonly principal: Principal; readonly at: string; readonly digest: string },
): Promise<Seen | Problem> => {
  // If the policy hides nothing from the voter, both forms are equal, and the vote counts as one on the revealed form.
  const forms = it.revealedTo.has(principal.id) ? [{ hidden: [] }, {}] : [{}];
  let last: Form | null = null;
  for (const form of forms) {
    const detail = await detailOf(deps, it, { principal, at, withBytes: true, ...form });
    if ("problem" in detail) return detail;
    const { shown_digest, bytes, ...shown } = detail.form;
    if (shown_digest === digest && bytes !== undefined) {
      const { salt, payload } = detail;
      const seen = { approvalId: it.request.approval_id, payload, salt, bytes, digest };
      return { said: { shown, shown_digest }, form: seen };
    }
    last = detail.form;
  }
  return last === null ? notFound() : otherForm(last);
};

/** Members who saw the same form share what is kept of it. */
const keptForm = async (
  deps: ApprovalsDeps,
  { votes }: RequestedApproval,
  form: ShownForm | null,
  envelope: Envelope,
): Promise<Pick<Vote, "shown_form">> => {
  if (form === null) return {};
  const kept = votes.find(({ shown_form }) => shown_form?.commitment === form.digest)?.shown_form;
  return { shown_form: kept ?? (await keepShownForm(deps, form, envelope)) };
};

const isOpen = ({ request, end }: RequestedApproval, at: string): boolean => end === null && !isOverdue(request, at);

/** Sends the approved request on, or makes the approved change. After a crash the reactor does it. */
const doApproved = async (deps: ApprovalsDeps, { request }: RequestedApproval, envelope: Envelope): Promise<void> => {
  const { approval_id, subject } = request;
  if (subject.kind !== "change") {
    await deps.releases.releaseGranted(approval_id);
    return;
  }
  const actor = { kind: "system", id: "changes" } as const;
  await deps.changes.apply(subject.id, { ...envelope, actor, commandId: `changes-${envelope.commandId}` });
};

const vote =
  (decision: Vote["decision"]): Handle<Voting> =>
  (deps) =>
  async (call) => {
    const { principal, params, envelope } = call;
    const { id } = params;
    if (!isApprovalId(id)) return notFound();
    // The voter's role or session may have ended while the body arrived.
    if (principal.kind !== "member" || !(await call.isStillAllowed())) {
      return problem("forbidden", "Only a person with a session and the role approver decides.");
    }
    const { at } = envelope;
    const { digest, shown_digest: stated, comment = "" } = call.body;
    const it = await ownApproval(deps, call);
    if (it === null) return notFound();
    const hindrance = decision === "approve" ? await approvalHindrance(deps, it, envelope) : null;
    if (hindrance !== null) return hindrance;
    // A vote that comes too late is refused below. Its form is not compared, as the payload may be erased by now.
    const seen =
      stated === undefined || !isOpen(it, at)
        ? NOT_STATED
        : await formSeen(deps, it, { principal, at, digest: stated });
    if ("problem" in seen) return seen;
    const { state: session } = await deps.aggregates.load(sessionDecider, principal.session);
    const isByCommand = session.phase === "open" && session.madeBy === "command-line";
    const made = isByCommand ? ({ made_by: "command-line" } as const) : {};
    const said = comment.trim();
    const { id: member_id, email, address } = principal;
    const bare = { member_id, email, address, decision, comment: null, ...seen.said, ...made, at };
    const people = await peopleOf(deps, principal.account);
    const members = new Set(people?.members.keys() ?? []);
    const command = { type: "CastVote", account: principal.account, vote: bare, digest, members } as const;
    // Nothing is kept for a vote that is refused or changes nothing, however often it is sent.
    const decided = approval.decide(command, it);
    const isCast = decided.ok && decided.events.length > 0;
    const words = said === "" || !isCast ? null : await deps.personal.keep(approvalStream(id), said, envelope);
    const form = isCast ? await keptForm(deps, it, seen.form, envelope) : {};
    const cast = { ...command, vote: { ...bare, comment: words, ...form } };
    const done = await deps.aggregates.handle(approval, approvalStream(id), cast, envelope);
    if (done.outcome === "rejected") {
      if (words !== null) await deps.personal.forget(words);
      return PROBLEM_OF[done.rejection](done.state);
    }
    if (done.state.phase !== "requested") return notFound();
    // This is done before the answer, so that the deciding member sees the result.
    if (done.state.end?.outcome === "approved") await doApproved(deps, done.state, envelope);
    if (done.state.end?.outcome === "rejected") await deps.releases.endRejected(id);
    return visibleTo(deps, call, done.state, { done: done.position });
  };

const reveal: Handle<OfOne> = (deps) => async (call) => {
  const { principal, params, envelope } = call;
  const it = await ownApproval(deps, call);
  if (it === null) return notFound();
  const { account, id: member_id } = principal;
  const { at } = envelope;
  const subject = await subjectOf(deps.log, it);
  const hidden = pointersOf(await hiddenOfSubject(deps, subject, principal));
  // Nothing is hidden from this reader (an admin, for example), so there is nothing to reveal.
  if (hidden.length === 0) {
    return visibleTo(deps, call, it);
  }
  if (!(await mayReveal(deps.log, subject, principal))) {
    return problem("forbidden", "The policy does not allow your role to reveal its hidden fields: ask an admin.");
  }
  const command = { type: "RevealHiddenFields", account, member_id, hidden, at } as const;
  const done = await deps.aggregates.handle(approval, approvalStream(params.id), command, envelope);
  if (done.outcome === "rejected") return PROBLEM_OF[done.rejection](done.state);
  if (done.state.phase !== "requested") return notFound();
  return visibleTo(deps, call, done.state, { hidden: [], done: done.position });
};

/** Only people decide on approvals, so a key may not call. */
const DECIDES = { session: "approver" } as const;

export const approvalRoutes = (deps: ApprovalsDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/approvals",
    who: READERS,
    summary: "List the approvals, newest first, or what waits by its expiry",
    tag: "approvals",
    query: LIST_QUERY,
    answers: { 200: listOf(APPROVAL, { hasCounts: true }) },
    reads: [VIEW],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/approvals/{id}",
    who: READERS,
    summary:
      "One approval with the payload that is to be approved and where it goes; below admin without what the policy redacts",
    tag: "approvals",
    answers: { 200: APPROVAL_DETAIL },
    reads: [VIEW],
    handle: get(deps),
  }),
  route({
    method: "GET",
    path: "/v1/approvals/{id}/context",
    who: READERS,
    summary:
      "What a person needs to decide: the sentence, the fields, the last one, undo, budget, the agent, and who may",
    tag: "approvals",
    answers: { 200: APPROVAL_CONTEXT },
    reads: [VIEW, events.schema.name],
    handle: context(deps),
  }),
  route({
    method: "POST",
    path: "/v1/approvals/{id}/approve",
    who: DECIDES,
    summary: "Approve what has this digest; once enough people have, it is executed, once",
    tag: "approvals",
    body: APPROVE_BODY,
    problems: ["digest-mismatch", "already-decided", "expired", "self-approval", "conflict", "payload-damaged"],
    answers: { 200: APPROVAL_DETAIL },
    always: true,
    handle: vote("approve")(deps),
  }),
  route({
    method: "POST",
    path: "/v1/approvals/{id}/reject",
    who: DECIDES,
    summary: "Reject it; one rejection is enough",
    tag: "approvals",
    body: REJECT_BODY,
    problems: ["digest-mismatch", "already-decided", "expired", "self-approval", "conflict", "payload-damaged"],
    answers: { 200: APPROVAL_DETAIL },
    always: true,
    handle: vote("reject")(deps),
  }),
  route({
    method: "POST",
    path: "/v1/approvals/{id}/reveal",
    who: { session: "viewer" },
    summary:
      "Show the fields that the policy hides, to a role that its approval.reveal names, while it is pending; recorded once " +
      "for each member",
    tag: "approvals",
    problems: ["already-decided", "expired", "conflict"],
    answers: { 200: APPROVAL_DETAIL },
    always: true,
    handle: reveal(deps),
  }),
];
