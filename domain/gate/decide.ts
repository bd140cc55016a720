import type { GateName, GateOutcome, GateResult, Verdict } from "./verdict.ts";

/**
 * A policy that only watches does not lift what is not its own, the plan's quota and an agent's scope; and where it asks for a
 * person, nothing passes because it could not be told whether one is needed.
 */
const NEVER_OBSERVED: ReadonlySet<GateName> = new Set(["scope", "quota", "bytes", "approval"]);

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

/** The gates of one policy, or those that belong to none. `blocks`: false where the policy only observes. */
export type GateGroup = { readonly gates: readonly GateResult[]; readonly blocks: boolean };

/** The first gate of all groups whose denial stands. */
export const refusedByAny = (groups: readonly GateGroup[]): GateResult | undefined => {
  for (const { gates, blocks } of groups) {
    const refused = refusedBy(gates, blocks);
    if (refused !== undefined) return refused;
  }
  return undefined;
};

/** The strictest decision of several policies: one that denies denies, else one that holds holds. */
export const decideAll = (groups: readonly GateGroup[]): Pick<Verdict, "decision" | "observed"> => {
  const decisions = groups.map(({ gates, blocks }) => decide(gates, blocks));
  const has = (wanted: GateOutcome): boolean => decisions.some(({ decision }) => decision === wanted);
  if (has("deny")) return { decision: "deny" };
  const decision = has("hold") ? "hold" : "allow";
  return decisions.some(({ observed }) => observed === true) ? { decision, observed: true } : { decision };
};
