import type { Reason } from "../personal/words.ts";
import type { ApprovalRequest, Vote } from "./events.ts";

export type ApprovalOutcome = "approved" | "rejected" | "expired" | "cancelled" | "void";

export type ApprovalEnd = {
  readonly outcome: ApprovalOutcome;
  /** Null for an approval that was granted or has expired. */
  readonly reason: Reason | null;
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

/** Both times are ISO-8601 UTC of the same width, so comparing them as text compares the times. */
export const isOverdue = ({ expires_at }: Pick<ApprovalRequest, "expires_at">, at: string): boolean => at >= expires_at;

export const mayApprove = (
  { exclude_requester, requesters }: Pick<ApprovalRequest, "exclude_requester" | "requesters">,
  member: string,
): boolean => !exclude_requester || !requesters.includes(member);
