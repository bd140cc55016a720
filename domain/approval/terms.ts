import { defined } from "../defined.ts";
import type { HeldFor } from "../delivery/events.ts";
import type { GateResult } from "../gate/verdict.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { visibleText } from "../visible-text.ts";

export type HoldDetails = {
  readonly approvalId: string;
  readonly digest: string;
  /** The verdict's gates: a denial that is only observed becomes one of the reasons. */
  readonly gates: readonly GateResult[];
  readonly atMs: number;
  readonly member?: string;
  readonly requesters: readonly string[];
};

const S = 1_000;
export const CHANGED = "Since it was last asked for, ";

const reasonOf = ({ when }: ApprovalRule): string =>
  when === undefined
    ? "The policy asks for an approval of every request."
    : `The policy asks for an approval when ${when.trim()}`;

/**
 * Several rules are united by their strictest parts: the largest quorum, the earliest end, and every exclusion of the
 * requester.
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

/** The new approval has as much time as the first one had. */
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
