import type { ApprovalRequest, Vote } from "./events.ts";

/** Each carries its time, ISO-8601 UTC with milliseconds. */
export type ApprovalCommand =
  | { readonly type: "RequestApproval"; readonly request: ApprovalRequest }
  | {
      readonly type: "CastVote";
      readonly account: string;
      readonly vote: Vote;
      /** The digest that the member was shown. */
      readonly digest: string;
      /** The account's current members: earlier votes of former members do not count. */
      readonly members: ReadonlySet<string>;
    }
  /** `hidden`: JSON Pointers of the fields that the policy hides from the member and allows to reveal. */
  | {
      readonly type: "RevealHiddenFields";
      readonly account: string;
      readonly member_id: string;
      readonly hidden: readonly string[];
      readonly at: string;
    }
  /** Given by a timer: refused before the approval is due. */
  | { readonly type: "ExpireApproval"; readonly at: string }
  /** The target or action has changed, and the approval is unused. `next`: the approval requested instead. */
  | {
      readonly type: "VoidApproval";
      readonly next: { readonly approval_id: string; readonly digest: string };
      readonly reason: string;
      readonly at: string;
    }
  /** The request will not be executed, whatever people decide. */
  | { readonly type: "CancelApproval"; readonly reason: string; readonly at: string };

export type ApprovalRejection =
  | "not-found"
  | "not-due"
  | "digest-mismatch"
  | "already-decided"
  | "expired"
  | "self-approval";

export type CommandOf<T extends ApprovalCommand["type"]> = Extract<ApprovalCommand, { type: T }>;
