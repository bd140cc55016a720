import type { Reason } from "../personal/words.ts";
import type { ApprovalRequest, Vote } from "./events.ts";

export type ApprovalCommand =
  | { readonly type: "RequestApproval"; readonly request: ApprovalRequest }
  | {
      readonly type: "CastVote";
      readonly account: string;
      readonly vote: Vote;
      readonly digest: string;
      /** Ids of the account's present members: the approvals of members who have left do not count. */
      readonly members: ReadonlySet<string>;
    }
  /** `hidden` lists JSON Pointers of the fields that the policy hides but that the member may have revealed. */
  | {
      readonly type: "RevealHiddenFields";
      readonly account: string;
      readonly member_id: string;
      readonly hidden: readonly string[];
      readonly at: string;
    }
  /** A timer gives this command, which is refused before `expires_at`. */
  | { readonly type: "ExpireApproval"; readonly at: string }
  /** The target or the action has changed before the approval was used, so the approval `next` takes its place. */
  | {
      readonly type: "VoidApproval";
      readonly next: { readonly approval_id: string; readonly digest: string };
      readonly reason: Reason;
      readonly at: string;
    }
  | { readonly type: "CancelApproval"; readonly reason: Reason; readonly at: string };

export type ApprovalRejection =
  | "not-found"
  | "not-due"
  | "digest-mismatch"
  | "already-decided"
  | "expired"
  | "self-approval";

export type CommandOf<T extends ApprovalCommand["type"]> = Extract<ApprovalCommand, { type: T }>;
