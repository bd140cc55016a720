import { defined } from "../defined.ts";
import type { HeldFor } from "../delivery/events.ts";
import type { GateResult } from "../gate/verdict.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { visibleText } from "../visible-text.ts";

export type HoldDetails = {
  readonly approvalId: string;
  readonly digest: string;
  /** The gates of the verdict: a denial that the policy only observes becomes a reason of the approval. */
  readonly gates: readonly GateResult[];
  readonly atMs: number;
  readonly member?: string;
  readonly requesters: readonly string[];
};

const S = 1_000;
export const CHANGED = "Since it was last asked for, ";

const reasonOf = ({ when }: ApprovalRule): string =>
  when === undefined || when.trim() === "true"
    ? "The policy asks for an approval of every request."
    : `The policy asks for an approval when ${when.trim()}`;

/**
 * If several rules ask for an approval, the strictest parts count: the largest quorum, the earliest end, and every
 * exclusion of the requester.
 */
export const approvalTerms = (
  rules: readonly ApprovalRule[],
  { approvalId, digest, gates, atMs, member, requesters }: HoldDetails,
): HeldFor => ({
  approval_id: approvalId,
  digest,
  min_approvals: Math.max(1, ...rules.map((rule) => rule.min_approvals ?? 1)),
  exclude_requester: rules.some((rule) => rule.exclude_requester === true),
  expires_at: new Date(atMs + Math.min(...rules.map((rule) => rule.expires_after_s)) * S).toISOString(),
  reasons: [
    ...new Set(rules.map(reasonOf)),
    ...gates
      .filter(({ outcome }) => outcome === "deny")
      .map(({ gate, detail }) => `The policy only observes ${gate}: ${detail}`),
  ].map(visibleText),
  ...defined({ member }),
  requesters,
});

export type Renewal = {
  readonly approvalId: string;
  readonly digest: string;
  readonly atMs: number;
  readonly changes: readonly string[];
  readonly member?: string;
  readonly replayedWith?: string;
};

/** The terms of an approval that replaces another, with as much time until it expires. */
export const renewedTerms = (
  { approval, heldAt }: { readonly approval: HeldFor; readonly heldAt: string },
  { approvalId, digest, atMs, changes, member = approval.member, replayedWith }: Renewal,
): HeldFor => ({
  ...approval,
  approval_id: approvalId,
  digest,
  expires_at: new Date(atMs + Date.parse(approval.expires_at) - Date.parse(heldAt)).toISOString(),
  reasons: [...approval.reasons.filter((reason) => !reason.startsWith(CHANGED)), ...changes.map(visibleText)],
  requesters: [...new Set([...approval.requesters, ...(replayedWith === undefined ? [] : [replayedWith])])],
  ...defined({ member }),
});
