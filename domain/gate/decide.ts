import type { GateName, GateOutcome, GateResult, Verdict } from "./verdict.ts";

/** These are not the policy's: a policy that only watches does not lift the plan's quota or an agent's scope. */
const NEVER_OBSERVED: ReadonlySet<GateName> = new Set(["scope", "quota"]);

/** The first gate whose denial stands; undefined when there is none, or all are only observed. */
export const refusedBy = (gates: readonly GateResult[], blockOnViolation: boolean): GateResult | undefined =>
  gates.find(({ gate, outcome }) => outcome === "deny" && (blockOnViolation || NEVER_OBSERVED.has(gate)));

/**
 * The decision that follows from the gates: any denial denies, else any hold holds. With `blockOnViolation` false a
 * denial is only observed: the gates keep their outcome, the decision passes over it.
 */
export const decide = (
  gates: readonly GateResult[],
  blockOnViolation: boolean,
): Pick<Verdict, "decision" | "observed"> => {
  if (refusedBy(gates, blockOnViolation) !== undefined) return { decision: "deny" };
  const decision: GateOutcome = gates.some((gate) => gate.outcome === "hold") ? "hold" : "allow";
  return gates.some((gate) => gate.outcome === "deny") ? { decision, observed: true } : { decision };
};
