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
};

const S = 1_000;

/** What a request is held for: the policy's rule as it is at this moment, whatever becomes of the policy. */
export const heldFor = (rule: ApprovalRule, { approvalId, digest, gates, atMs, member }: HoldAbout): HeldFor => ({
  approval_id: approvalId,
  digest,
  min_approvals: rule.min_approvals ?? 1,
  exclude_requester: rule.exclude_requester ?? false,
  expires_at: new Date(atMs + rule.expires_after_s * S).toISOString(),
  reasons: [
    rule.when === undefined
      ? "The policy asks for an approval of every request."
      : `The policy asks for an approval when ${rule.when.trim()}`,
    ...gates
      .filter(({ outcome }) => outcome === "deny")
      .map(({ gate, detail }) => `The policy only observes ${gate}: ${detail}`),
  ].map(visibleText),
  ...(member === undefined ? {} : { member }),
});
