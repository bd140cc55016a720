import type { ApprovalRequest, Vote } from "./events.ts";

/** Each carries its time, ISO-8601 UTC with milliseconds. */
export type ApprovalCommand =
  | { readonly type: "RequestApproval"; readonly request: ApprovalRequest }
  | {
      readonly type: "CastVote";
      readonly account: string;
      readonly vote: Vote;
      /** Of what the member was shown. */
      readonly digest: string;
      /** Ids of the account's members as it is decided: an earlier vote of anybody else no longer counts. */
      readonly members: ReadonlySet<string>;
    }
  /** `hidden`: JSON Pointers of the fields that the policy hides from the member and lets them reveal. */
  | {
      readonly type: "RevealHiddenFields";
      readonly account: string;
      readonly member_id: string;
      readonly hidden: readonly string[];
      readonly at: string;
    }
  /** Of a timer: only what is due ends by it. */
  | { readonly type: "ExpireApproval"; readonly at: string }
  /** What it is bound to has changed, and nothing has used it. `next`: what is asked for instead. */
  | {
      readonly type: "VoidApproval";
      readonly next: { readonly approval_id: string; readonly digest: string };
      readonly reason: string;
      readonly at: string;
    }
  /** Of the system, as what was to be approved will not be executed whatever people say. */
  | { readonly type: "CancelApproval"; readonly reason: string; readonly at: string };

export type ApprovalRejection =
  | "not-found"
  | "not-due"
  | "digest-mismatch"
  | "already-decided"
  | "expired"
  | "self-approval";

export type CommandOf<T extends ApprovalCommand["type"]> = Extract<ApprovalCommand, { type: T }>;
