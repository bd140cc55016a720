import type { StepState } from "./state.ts";

/** True if the step has cost something that its receiver did not report, so that a successful undo gives it back. */
export const isEstimated = (step: StepState): boolean =>
  "outcome" in step && !step.isReported && step.cost !== null && step.cost > 0;

/** Micro-euros, or null if nothing was charged. A successful undo gives back an estimate, never a reported cost. */
export const costOfStep = (step: StepState): number | null => {
  if (!("outcome" in step)) return null;
  const { cost, isReported } = step;
  if (!("undo" in step)) return cost === null ? null : Math.max(0, cost);
  const { undo } = step;
  if (cost === null && undo.cost === null) return null;
  const kept = undo.outcome === "compensated" && !isReported ? 0 : (cost ?? 0);
  return Math.max(0, kept + (undo.cost ?? 0));
};

export const costOfSteps = (steps: readonly StepState[]): number | null => {
  const costs = steps.map(costOfStep).filter((cost) => cost !== null);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
};
