import type { Role } from "../account/events.ts";
import type { JsonObject } from "../json.ts";
import type { LoopRule } from "../ledger/loop.ts";

/** Amounts are in euros as the policy's author wrote them, not in micro-euros. */
export type PolicyDefinition = {
  readonly name: string;
  readonly budget_eur_day?: number;
  readonly rate_per_minute?: number;
  readonly require_fields?: readonly string[];
  /** Default true. A policy with false only observes: violations are recorded and nothing is blocked. */
  readonly block_on_violation?: boolean;
  readonly cost?: CostRule;
  readonly schema?: JsonObject | boolean;
  readonly deny?: readonly DenyRule[];
  readonly redact?: readonly string[];
  readonly loop?: LoopRule;
  readonly approval?: ApprovalRule;
  /** Default false. A protected policy is weakened only with the approvals that it asks for itself. */
  readonly protected?: boolean;
};

export const REVEAL_ROLES = ["approver", "auditor", "viewer"] as const satisfies readonly Role[];
export type RevealRole = (typeof REVEAL_ROLES)[number];

export type CostRule =
  | { readonly fixed_eur: number }
  | {
      readonly pointer: string;
      readonly scale?: number;
      readonly default_eur?: number;
      /** Default false: numbers written as text do not count. */
      readonly numeric_text?: boolean;
    };

export type ApprovalRule = {
  /** A CEL condition; without it the rule asks for an approval of every request. */
  readonly when?: string;
  readonly min_approvals?: number;
  readonly exclude_requester?: boolean;
  /** Roles below admin that may reveal the fields of `redact` while they decide. */
  readonly reveal?: readonly RevealRole[];
  readonly expires_after_s: number;
};

export type DenyRule = { readonly name: string; readonly when: string };
