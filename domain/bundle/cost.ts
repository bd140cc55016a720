import type { StepState } from "./state.ts";

/**
 * Micro-euros that a step has cost together with its undo; null when nothing of it has reached anybody. What a target has
 * said stays spent, whatever came of the step; an estimate was for what is taken back, and is given back with it. An undo
 * may say less than nothing: what it gives back, up to all that the step has cost.
 */
export const costOfStep = (step: StepState): number | null => {
  if (!("outcome" in step)) return null;
  const { cost, isReported } = step;
  if (!("undo" in step)) return cost;
  const { undo } = step;
  if (cost === null && undo.cost === null) return null;
  const kept = undo.outcome === "compensated" && !isReported ? 0 : (cost ?? 0);
  return Math.max(0, kept + (undo.cost ?? 0));
};

/** Of all steps together, as `costOfStep`. */
export const costOfSteps = (steps: readonly StepState[]): number | null => {
  const costs = steps.map(costOfStep).filter((cost) => cost !== null);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
};
