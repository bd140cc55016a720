import { euro } from "../../design/format.ts";

/** What requests cost, in words. Pure. */

type Costing = {
  readonly status: string;
  readonly cost_eur: number | null;
  readonly attempt_count: number;
  readonly verdict: { readonly gates: readonly { readonly outcome: string; readonly code: string }[] };
};

/** Ends of what was never sent, unless a replay was held after attempts. Their cost is the estimate, or was given back. */
const UNSENT: readonly string[] = ["blocked", "held", "rejected", "expired"];
/** Ends after which a cost of zero means that nothing has reached the receiver. */
const WITHOUT_EFFECT: readonly string[] = ["failed", "cancelled", "rejected", "expired"];

/** "No cost" if no policy and no action sets one. What failed after it may have been done is spent, as in the ledger. */
export const eventCost = ({ status, cost_eur: cost, attempt_count: attempts, verdict: { gates } }: Costing): string => {
  if (cost === 0 && WITHOUT_EFFECT.includes(status)) return "Nothing spent";
  if (cost !== null) return `${UNSENT.includes(status) && attempts === 0 ? "Would cost " : ""}${euro(cost)}`;
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
