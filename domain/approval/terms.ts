import type { HeldFor } from "../delivery/events.ts";
import type { GateResult } from "../gate/verdict.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { visibleText } from "../visible-text.ts";

export type HoldAbout = {
  readonly approvalId: string;
  readonly digest: string;
  /** Of the verdict: what is only observed is a reason as well. */
  readonly gates: readonly GateResult[];
  /** ms since 1970. */
  readonly atMs: number;
  /** Who replays it, as `exclude_requester` concerns them. */
  readonly member?: string;
  /** Ids of the members who count as the requester. */
  readonly requesters: readonly string[];
};

const S = 1_000;
/** How each sentence about a change begins. */
export const CHANGED = "Since it was last asked for, ";

const reasonOf = ({ when }: ApprovalRule): string =>
  when === undefined
    ? "The policy asks for an approval of every request."
    : `The policy asks for an approval when ${when.trim()}`;

/**
 * What a request is held for: the rules as they are at this moment, whatever becomes of their policies. Of several rules
 * the strictest part of each counts: the largest quorum, the earliest end, and nobody approves what one of them excludes
 * them from.
 */
export const heldFor = (
  rules: readonly ApprovalRule[],
  { approvalId, digest, gates, atMs, member, requesters }: HoldAbout,
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
  ...(member === undefined ? {} : { member }),
  requesters,
});

export type AgainAbout = {
  readonly approvalId: string;
  readonly digest: string;
  readonly atMs: number;
  /** What has changed, in sentences. */
  readonly changes: readonly string[];
  readonly member?: string;
  /** The member who replays it, by hand or with a key of theirs; missing when it is not replayed. */
  readonly replayedWith?: string;
};

/** The same question once more, with as much time to answer it as the first time. */
export const heldForAgain = (
  { approval, heldAt }: { readonly approval: HeldFor; readonly heldAt: string },
  { approvalId, digest, atMs, changes, member = approval.member, replayedWith }: AgainAbout,
): HeldFor => ({
  ...approval,
  approval_id: approvalId,
  digest,
  expires_at: new Date(atMs + Date.parse(approval.expires_at) - Date.parse(heldAt)).toISOString(),
  reasons: [...approval.reasons.filter((reason) => !reason.startsWith(CHANGED)), ...changes.map(visibleText)],
  requesters: [...new Set([...approval.requesters, ...(replayedWith === undefined ? [] : [replayedWith])])],
  ...(member === undefined ? {} : { member }),
});
