import { euro } from "../../design/format.ts";

/** What requests cost, in words. Pure. */

type Costing = {
  readonly status: string;
  readonly cost_eur: number | null;
  readonly verdict: { readonly gates: readonly { readonly outcome: string; readonly code: string }[] };
};

/** "No cost" if no policy and no action sets one; what was refused has cost nothing. */
export const eventCost = ({ status, cost_eur: cost, verdict: { gates } }: Costing): string => {
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

/** "€4.00 spent, €1.00 reserved": what is settled, and what is set aside for what is not finished. */
export const spentText = (spent: number, reserved: number): string =>
  `${euro(spent)} spent${reserved === 0 ? "" : `, ${euro(reserved)} reserved`}`;
