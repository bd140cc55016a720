import type { ApprovalRequest } from "../../../domain/approval/events.ts";
import { type ApprovalEnd, isOverdue, type RequestedApproval } from "../../../domain/approval/state.ts";
import { releasesOf } from "../../../domain/delivery/state.ts";
import { eurOrNull } from "../../../domain/gate/cost.ts";
import type { ApprovalDocument, ApprovalStatus } from "../../../projections/approvals.ts";
import { type ApprovalSubject, holdEndOf } from "./approval-target.ts";

type Shown = Omit<ApprovalDocument, "account">;

export const approvalSummary = (id: string, it: Shown, at: string) => ({
  id,
  // An overdue approval is shown as expired, even before its expiry is recorded.
  status: it.status === "pending" && isOverdue(it, at) ? "expired" : it.status,
  event_id: it.subject_kind === "event" ? it.subject_id : null,
  bundle_id: it.subject_kind === "bundle" ? it.subject_id : null,
  ...(it.subject_kind === "change" ? { change_id: it.subject_id, change: it.change } : {}),
  action: it.action,
  summary: it.summary,
  digest: it.digest,
  cost_eur: eurOrNull(it.cost),
  requested_by: it.requested_by,
  requested_at: it.requested_at,
  expires_at: it.expires_at,
  min_approvals: it.min_approvals,
  exclude_requester: it.exclude_requester,
  requesters: it.requesters,
  policy: it.policy,
  reasons: it.reasons,
  votes: it.votes.map(({ address: _, ...vote }) => vote),
  decided_at: it.decided_at,
  reason: it.reason,
  replaces: it.replaces?.approval_id ?? null,
  replaced_by: it.replaced_by,
});

/** True once the approval has released its request, even if that was cancelled or held again afterwards. */
const isUsed = ({ kind, state }: ApprovalSubject, { approval_id }: ApprovalRequest): boolean => {
  if (kind === "change") return state.phase === "applied";
  if (kind === "bundle") return state.phase === "running" && state.approvalId === approval_id;
  return releasesOf(state).includes(approval_id);
};

/** True if the request is held under another approval by now; this approval's stream may not record that yet. */
const isReplaced = ({ kind, state }: ApprovalSubject, { approval_id }: ApprovalRequest): boolean =>
  kind !== "change" && state.phase === "held" && state.approval.approval_id !== approval_id;

const statusOf = (request: ApprovalRequest, end: ApprovalEnd | null, subject: ApprovalSubject): ApprovalStatus => {
  if (holdEndOf(subject) === "void") return "void";
  if (end !== null && end.outcome !== "approved") return end.outcome;
  if (end !== null && isUsed(subject, request)) return "consumed";
  if (isReplaced(subject, request)) return "void";
  return holdEndOf(subject) ?? end?.outcome ?? "pending";
};

export const documentOf = ({ request, votes, end }: RequestedApproval, of: ApprovalSubject): Shown => {
  const { approval_id: _, account: _account, subject, ...rest } = request;
  const status = statusOf(request, end, of);
  return {
    ...rest,
    status,
    subject_kind: subject.kind,
    subject_id: subject.id,
    votes: votes.map(({ made_by: _madeBy, shown_form: _form, ...vote }) => vote),
    decided_at: end?.at ?? null,
    // An approval that was granted has no reason of its own, but its request may have been stopped before its release.
    reason: end?.reason ?? (status === holdEndOf(of) ? of.endedBecause : null),
    replaced_by: end?.next ?? null,
  };
};
