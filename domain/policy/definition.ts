import type { Role } from "../account/events.ts";
import type { JsonObject } from "../json.ts";
import type { LoopRule } from "../ledger/loop.ts";

/** Money is in euros as the author wrote it. */
export type PolicyDefinition = {
  readonly name: string;
  readonly budget_eur_day?: number;
  readonly rate_per_minute?: number;
  readonly require_fields?: readonly string[];
  /** Left out: true. False observes: violations are recorded and nothing is blocked. */
  readonly block_on_violation?: boolean;
  readonly cost?: CostRule;
  readonly schema?: JsonObject | boolean;
  readonly deny?: readonly DenyRule[];
  readonly redact?: readonly string[];
  readonly loop?: LoopRule;
  readonly approval?: ApprovalRule;
  /** Weakening the policy needs the approvals that it asks for itself; left out: false. */
  readonly protected?: boolean;
};

/** Owners and admins see every field. */
export const REVEAL_ROLES = ["approver", "auditor", "viewer"] as const satisfies readonly Role[];
export type RevealRole = (typeof REVEAL_ROLES)[number];

export type CostRule =
  | { readonly fixed_eur: number }
  | {
      readonly pointer: string;
      /** Left out: 1. */
      readonly scale?: number;
      /** Used if the amount is absent or null. */
      readonly default_eur?: number;
      /** Whether numbers written as text count; left out: false. */
      readonly numeric_text?: boolean;
    };

export type ApprovalRule = {
  /** CEL; left out: every request. */
  readonly when?: string;
  /** Distinct people; left out: 1. */
  readonly min_approvals?: number;
  /** Left out: false. */
  readonly exclude_requester?: boolean;
  /** Roles below admin that may reveal the fields of `redact` while they decide; left out: none. */
  readonly reveal?: readonly RevealRole[];
  /** Then the approval expires. */
  readonly expires_after_s: number;
};

export type DenyRule = { readonly name: string; readonly when: string };
