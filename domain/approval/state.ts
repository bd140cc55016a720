import type { ApprovalRequest, Vote } from "./events.ts";

export type ApprovalOutcome = "approved" | "rejected" | "expired" | "cancelled" | "void";

export type ApprovalEnd = {
  readonly outcome: ApprovalOutcome;
  /** Null unless it was rejected, cancelled or voided. */
  readonly reason: string | null;
  /** The approval that replaces a void one. */
  readonly next?: string;
  readonly at: string;
};

export type RequestedApproval = {
  readonly phase: "requested";
  readonly request: ApprovalRequest;
  readonly votes: readonly Vote[];
  readonly revealedTo: ReadonlySet<string>;
  readonly end: ApprovalEnd | null;
};

export type Approval = { readonly phase: "absent" } | RequestedApproval;

/** ISO-8601 times of one width compare as text. */
export const isOverdue = ({ expires_at }: Pick<ApprovalRequest, "expires_at">, at: string): boolean => at >= expires_at;

/** Whether the member's approval counts: a requester may be excluded. */
export const mayApprove = (
  { exclude_requester, requesters }: Pick<ApprovalRequest, "exclude_requester" | "requesters">,
  member: string,
): boolean => !exclude_requester || !requesters.includes(member);
