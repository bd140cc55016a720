import type { GateName, GateOutcome, GateResult, Verdict } from "./verdict.ts";

/** These are not the policy's: a policy that only watches does not lift the plan's quota or an agent's scope. */
const NEVER_OBSERVED: ReadonlySet<GateName> = new Set(["scope", "quota"]);

/**
 * The decision that follows from the gates: any denial denies, else any hold holds. With `blockOnViolation` false a
 * denial is only observed: the gates keep their outcome, the decision passes over it.
 */
export const decide = (
  gates: readonly GateResult[],
  blockOnViolation: boolean,
): Pick<Verdict, "decision" | "observed"> => {
  const violated = gates.filter((gate) => gate.outcome === "deny");
  if (violated.some((gate) => blockOnViolation || NEVER_OBSERVED.has(gate.gate))) return { decision: "deny" };
  const decision: GateOutcome = gates.some((gate) => gate.outcome === "hold") ? "hold" : "allow";
  return violated.length === 0 ? { decision } : { decision, observed: true };
};
