import type { GateName, GateOutcome, GateResult, Verdict } from "./verdict.ts";

/** Denials of these gates always count: a policy that only observes cannot lift a plan's quota or an agent's scope. */
const NEVER_OBSERVED: ReadonlySet<GateName> = new Set(["scope", "quota", "bytes", "approval"]);

export const deniedBy = (gates: readonly GateResult[], blockOnViolation: boolean): GateResult | undefined =>
  gates.find(({ gate, outcome }) => outcome === "deny" && (blockOnViolation || NEVER_OBSERVED.has(gate)));

/** Any denial denies, else any hold holds. Without `blockOnViolation`, denials are recorded and not applied. */
export const decide = (
  gates: readonly GateResult[],
  blockOnViolation: boolean,
): Pick<Verdict, "decision" | "observed"> => {
  if (deniedBy(gates, blockOnViolation) !== undefined) return { decision: "deny" };
  const decision: GateOutcome = gates.some((gate) => gate.outcome === "hold") ? "hold" : "allow";
  return gates.some((gate) => gate.outcome === "deny") ? { decision, observed: true } : { decision };
};

export type GateGroup = { readonly gates: readonly GateResult[]; readonly blocks: boolean };

export const deniedByAny = (groups: readonly GateGroup[]): GateResult | undefined => {
  for (const { gates, blocks } of groups) {
    const refused = deniedBy(gates, blocks);
    if (refused !== undefined) return refused;
  }
  return undefined;
};

export const decideAll = (groups: readonly GateGroup[]): Pick<Verdict, "decision" | "observed"> => {
  let decision: GateOutcome = "allow";
  let isObserved = false;
  for (const { gates, blocks } of groups) {
    const decided = decide(gates, blocks);
    if (decided.decision === "deny") return decided;
    if (decided.decision === "hold") decision = "hold";
    isObserved ||= decided.observed === true;
  }
  return isObserved ? { decision, observed: true } : { decision };
};
