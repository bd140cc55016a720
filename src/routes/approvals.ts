import { account } from "../../domain/account/decider.ts";
import type { ApprovalRejection } from "../../domain/approval/commands.ts";
import { type Approval, approval, type RequestedApproval } from "../../domain/approval/decider.ts";
import type { Vote } from "../../domain/approval/events.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { EventLog, ViewStore } from "../../domain/ports.ts";
import { type ApprovalDocument, approvals } from "../../projections/approvals.ts";
import { APPROVAL_STATUSES } from "../../projections/schemas/approvals.ts";
import { accountStream } from "../accounts.ts";
import type { Aggregates } from "../aggregates.ts";
import { approvalStream, isApprovalId } from "../approvals.ts";
import type { Payloads } from "../payloads.ts";
import { notFound, type Problem, problem } from "../problems.ts";
import { latestOf } from "../run-command.ts";
import { APPROVAL, APPROVAL_DETAIL, APPROVE_BODY, REJECT_BODY } from "./approval-schemas.ts";
import { approvalSummary, asShown, payloadShown } from "./approval-shown.ts";
import { stepsShown } from "./approval-steps.ts";
import { type ApprovalSubject, approvalHindrance, subjectOf, targetOf } from "./approval-target.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "./listing.ts";
import { policyStream } from "./policies.ts";
import { type Call, type Principal, positionOf, READERS, type Route } from "./route.ts";

export type ApprovalsDeps = {
  readonly aggregates: Aggregates;
  readonly log: EventLog;
  readonly views: Pick<ViewStore, "page">;
  readonly payloads: Pick<Payloads, "read">;
};

type Handle = (deps: ApprovalsDeps) => Route["handle"];
type VoteBody = { readonly digest: string; readonly comment?: string };

const VIEW = approvals.schema.name;

const decided = (state: Approval): string =>
  state.phase === "requested" && state.end !== null ? ` It was ${state.end.outcome} at ${state.end.at}.` : "";

/** Each rejection of the decider as it is answered. */
const PROBLEM_OF: Record<ApprovalRejection, (state: Approval) => Problem> = {
  "not-found": notFound,
  "not-due": () => problem("conflict", "It is not due yet."),
  "digest-mismatch": () =>
    problem("digest-mismatch", "The digest is not the one to be approved: read the approval again."),
  "already-decided": (state) => problem("already-decided", `Nothing is left to decide.${decided(state)}`),
  expired: () => problem("expired", "Nobody decided in time: what was held is refused, and has to be asked for again."),
  "self-approval": () =>
    problem("self-approval", "The policy wants another person than the one who asked. You can still reject it."),
};

/** The caller's own approval as its stream has it; null for any other id. */
const own = async ({ aggregates }: ApprovalsDeps, { principal, params }: Call): Promise<RequestedApproval | null> => {
  const { id = "" } = params;
  if (!isApprovalId(id)) return null;
  // Not a moment old: another node may have decided it just now.
  const { state } = await aggregates.load(approval, approvalStream(id), 0);
  return state.phase === "requested" && state.request.account === principal.account ? state : null;
};

/** With the version that is in force: what is approved was held under the one that it names, whatever came after it. */
const policyShown = async ({ aggregates }: ApprovalsDeps, { policy: held }: RequestedApproval["request"]) => {
  if (held === null) return null;
  const { state } = await aggregates.load(policy, policyStream(held.id));
  return { ...held, newest_version: state.phase === "published" ? state.version : held.version };
};

/** What would be executed. */
const contentShown = async (deps: ApprovalsDeps, { kind, state }: ApprovalSubject, principal: Principal) => {
  if (kind === "bundle" && "request" in state) return stepsShown(deps, state.request, principal);
  return payloadShown(deps, kind === "event" && "request" in state ? state.request : null, principal);
};

/** The approval for a reader, and the position up to which its subject is shown. */
const detail = async (deps: ApprovalsDeps, it: RequestedApproval, principal: Principal, at: string) => {
  const subject = await subjectOf(deps.log, it);
  const body = {
    ...approvalSummary(it.request.approval_id, asShown(it, subject), at),
    policy: await policyShown(deps, it.request),
    endpoint: await targetOf(deps.aggregates, subject),
    ...(await contentShown(deps, subject, principal)),
  };
  return { body, position: subject.position };
};

/** Who is there at this moment, whichever node has added or removed somebody. */
const membersOf = async ({ aggregates }: ApprovalsDeps, id: string): Promise<ReadonlySet<string>> => {
  const { state } = await aggregates.load(account, accountStream(id), 0);
  return new Set(state.phase === "open" ? state.members.keys() : []);
};

const get: Handle = (deps) => async (call) => {
  const it = await own(deps, call);
  if (it === null) return notFound();
  const { body } = await detail(deps, it, call.principal, call.envelope.at);
  return { status: 200, body };
};

const list: Handle =
  ({ views }) =>
  async ({ principal, query, envelope }) => {
    const { status } = query;
    const where = [
      { field: "account", is: "=", value: principal.account },
      ...(status === undefined ? [] : [{ field: "status", is: "=", value: String(status) } as const]),
    ] as const;
    const sort = { field: "requested_at", order: "desc" } as const;
    // What the view's own projection has put.
    const page = await pageOf(views, { view: VIEW, where, sort }, query, (document, id) =>
      approvalSummary(id, document as ApprovalDocument, envelope.at),
    );
    return isPage(page) ? { status: 200, body: page } : page;
  };

const vote =
  (decision: Vote["decision"]): Handle =>
  (deps) =>
  async (call) => {
    const { principal, params, envelope } = call;
    const { id = "" } = params;
    if (!isApprovalId(id)) return notFound();
    // A body may be half a minute under way: who has lost the role or the session meanwhile decides nothing.
    if (principal.kind !== "member" || !(await call.isStillAllowed())) {
      return problem("forbidden", "Only a person with a session and the role approver decides.");
    }
    const { id: member_id, email } = principal;
    // The route's schema has checked the shape.
    const { digest, comment = "" } = call.body as VoteBody;
    const said = comment.trim() === "" ? null : comment.trim();
    const cast = { member_id, email, decision, comment: said, at: envelope.at };
    const held = decision === "approve" ? await own(deps, call) : null;
    const hindrance = held === null ? null : await approvalHindrance(deps, held, envelope.at);
    if (hindrance !== null) return hindrance;
    const members = await membersOf(deps, principal.account);
    const command = { type: "CastVote", account: principal.account, vote: cast, digest, members } as const;
    const done = await deps.aggregates.handle(approval, approvalStream(id), command, envelope);
    if (done.outcome === "rejected") return PROBLEM_OF[done.rejection](done.state);
    if (done.state.phase !== "requested") return notFound();
    const { body, position } = await detail(deps, done.state, principal, envelope.at);
    // What was approved may have been released meanwhile, and is then shown as consumed.
    return { status: 200, body, ...positionOf({ position: latestOf(done.position, position) }) };
  };

/** Deciding needs a human: no key can. */
const DECIDES = { session: "approver" } as const;

export const approvalRoutes = (deps: ApprovalsDeps): readonly Route[] => [
  {
    method: "GET",
    path: "/v1/approvals",
    who: READERS,
    summary: "List the approvals, newest first",
    tag: "approvals",
    query: {
      status: { enum: APPROVAL_STATUSES, description: "Only approvals with this status" },
      ...LISTING_QUERY,
    },
    answers: { 200: listOf(APPROVAL) },
    reads: [VIEW],
    handle: list(deps),
  },
  {
    method: "GET",
    path: "/v1/approvals/{id}",
    who: READERS,
    summary:
      "One approval with the payload that is to be approved and where it goes; below admin without what the policy redacts",
    tag: "approvals",
    answers: { 200: APPROVAL_DETAIL },
    reads: [VIEW],
    handle: get(deps),
  },
  {
    method: "POST",
    path: "/v1/approvals/{id}/approve",
    who: DECIDES,
    summary: "Approve what has this digest; once enough people have, it is executed, once",
    tag: "approvals",
    body: APPROVE_BODY,
    answers: { 200: APPROVAL_DETAIL },
    handle: vote("approve")(deps),
  },
  {
    method: "POST",
    path: "/v1/approvals/{id}/reject",
    who: DECIDES,
    summary: "Reject it; one rejection is enough",
    tag: "approvals",
    body: REJECT_BODY,
    answers: { 200: APPROVAL_DETAIL },
    handle: vote("reject")(deps),
  },
];
