import type { GateName, GateOutcome, GateResult, Verdict } from "./verdict.ts";

/**
 * A policy that only watches does not lift what is not its own, the plan's quota and an agent's scope; and where it asks for a
 * person, nothing passes because it could not be told whether one is needed.
 */
const NEVER_OBSERVED: ReadonlySet<GateName> = new Set(["scope", "quota", "approval"]);

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
