import { count, euro } from "../../design/format.ts";

/** What requests cost, in words. Pure. */

export type Costing = {
  readonly status: string;
  readonly cost_eur: number | null;
  readonly attempt_count: number;
  readonly verdict: { readonly gates: readonly { readonly outcome: string; readonly code: string }[] };
};

/**
 * States whose cost is an estimate. A replay may be held as well, after an attempt that may have been done and is spent. Once
 * a request is rejected, has expired or is cancelled while it is held, its cost is €0.00.
 */
const ESTIMATED: readonly string[] = ["blocked", "held"];

/** True if the cost is that of something which was never sent, of which nothing is spent. */
export const isUnspent = ({ status, cost_eur: cost, attempt_count: attempts }: Omit<Costing, "verdict">): boolean =>
  cost !== null && cost > 0 && attempts === 0 && ESTIMATED.includes(status);

/**
 * "No cost" if no policy and no action sets one. As in the ledger, what failed and may have been done is spent, and what did
 * not reach its receiver has cost €0.00.
 */
export const eventCost = ({ status, cost_eur: cost, verdict: { gates } }: Omit<Costing, "attempt_count">): string => {
  if (cost !== null) return euro(cost);
  if (gates.some(({ outcome, code }) => outcome === "deny" && code === "cost-unknown")) return "Cost unknown";
  return status === "blocked" ? "–" : "No cost";
};

type Spending = {
  /** Of the agent's policy; null if it has none. */
  readonly policyId: string | null;
  /** Left out or null while it is not known. */
  readonly policy: { readonly cost?: unknown } | null | undefined;
  readonly spent: number;
  readonly reserved: number;
};

/** True if an agent's requests cost nothing, and no policy sets a cost for them. */
export const hasNoCost = ({ policyId, policy, spent, reserved }: Spending): boolean =>
  spent === 0 && reserved === 0 && (policyId === null || (policy != null && policy.cost === undefined));

/** What a ledger has settled. Also what was undone, failed or was never sent is settled, at €0.00 if it cost nothing. */
export const settledText = (spent: number, requests: number): string =>
  requests === 1
    ? `${euro(spent)} in 1 request that has ended`
    : `${euro(spent)} in ${count(requests)} requests that have ended, those without a cost among them`;

/** "€4.00 spent, €1.00 reserved": what is settled, and what is set aside for what is not finished. */
export const spentText = (spent: number, reserved: number): string =>
  `${euro(spent)} spent${reserved === 0 ? "" : `, ${euro(reserved)} reserved`}`;
