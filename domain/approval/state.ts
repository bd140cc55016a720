import type { ApprovalRequest, Vote } from "./events.ts";

export type ApprovalOutcome = "approved" | "rejected" | "expired" | "cancelled" | "void";

export type ApprovalEnd = {
  readonly outcome: ApprovalOutcome;
  /** Of a rejection, a cancellation or a void one. */
  readonly reason: string | null;
  /** Of a void one, the approval that was asked for instead. */
  readonly next?: string;
  readonly at: string;
};

export type RequestedApproval = {
  readonly phase: "requested";
  readonly request: ApprovalRequest;
  readonly votes: readonly Vote[];
  /** The members to whom the hidden fields were revealed. */
  readonly revealedTo: ReadonlySet<string>;
  readonly end: ApprovalEnd | null;
};

export type Approval = { readonly phase: "absent" } | RequestedApproval;

/** Times are text of one width, which compares as they do. */
export const isOverdue = ({ expires_at }: Pick<ApprovalRequest, "expires_at">, at: string): boolean => at >= expires_at;

/** Whether the member's approval counts: a requester may be excluded. */
export const mayApprove = (
  { exclude_requester, requesters }: Pick<ApprovalRequest, "exclude_requester" | "requesters">,
  member: string,
): boolean => !exclude_requester || !requesters.includes(member);
