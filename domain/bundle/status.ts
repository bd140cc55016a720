import type { Step } from "./events.ts";
import type { Bundle, RunningBundle, StepState } from "./state.ts";

/** How far a bundle has got, in the words of the API. */
export type BundleStatus =
  | "blocked"
  | "held"
  | "running"
  | "committed"
  | "rolling_back"
  | "rolled_back"
  | "rollback_incomplete"
  | "cancelled";

export type StepStatus =
  | "pending"
  | "running"
  | "succeeded"
  | "failed"
  | "unknown"
  | "compensated"
  | "compensation_failed"
  | "skipped";

/** What somebody has to take back by hand, and why. */
export type Left = { readonly index: number; readonly action: string; readonly why: string };

const isLeft = ({ undo, resolution }: StepState): boolean =>
  resolution === null && (undo.outcome === "failed" || undo.outcome === "impossible");

/** The indices of the steps that are not taken back, and will not be. */
export const leftOf = ({ steps }: Pick<RunningBundle, "steps">): readonly number[] =>
  steps.flatMap((step, index) => (isLeft(step) ? [index] : []));

/** Of a bundle that was decided: what is not held, running or ended was refused. */
export const bundleStatus = (state: Bundle): BundleStatus => {
  if (state.phase === "held") return "held";
  if (state.phase === "ended-hold") return "cancelled";
  if (state.phase !== "running") return "blocked";
  // People may take back by hand what was left.
  if (state.end === "rollback_incomplete") return leftOf(state).length === 0 ? "rolled_back" : state.end;
  return state.end ?? (state.rollback === null ? "running" : "rolling_back");
};

/** An attempt at its target may have been made. */
export const wasSent = ({ startedAt, isNeverSent }: StepState): boolean => startedAt !== null && !isNeverSent;

const stepStatus = (step: StepState, isOver: boolean): StepStatus => {
  const { startedAt, outcome, undo, resolution } = step;
  if (resolution !== null || undo.outcome === "compensated") return "compensated";
  if (undo.outcome === "failed") return "compensation_failed";
  if (outcome !== null && !wasSent(step)) return "skipped";
  if (outcome === "failed") return "failed";
  // Nothing of it has to be taken back.
  if (undo.outcome === "not-needed") return "compensated";
  if (undo.outcome === "impossible") return "unknown";
  if (outcome === "succeeded" || outcome === "unknown") return outcome;
  if (startedAt !== null) return "running";
  return isOver ? "skipped" : "pending";
};

/** One for each step, in their order. */
export const stepStatuses = (state: Bundle): readonly StepStatus[] => {
  switch (state.phase) {
    case "absent":
      return [];
    case "undecided":
      return (state.last?.steps ?? []).map(() => "skipped");
    case "held":
      return state.request.steps.map(() => "pending");
    case "ended-hold":
      return state.request.steps.map(() => "skipped");
    case "running":
      return state.steps.map((step) => stepStatus(step, state.rollback !== null));
  }
};

const whyLeft = ({ compensation }: Step, { undo, outcome }: StepState): string => {
  if (undo.outcome === "failed") return `Its compensation ${compensation?.name ?? ""} did not succeed.`;
  return outcome === "unknown"
    ? "Nothing takes it back, and it may have done what it was asked."
    : "Nothing takes it back.";
};

/** Empty unless something could not be taken back. */
export const leftToDo = (state: Bundle): readonly Left[] => {
  if (state.phase !== "running") return [];
  return leftOf(state).flatMap((index) => {
    const [step, came] = [state.request.steps[index], state.steps[index]];
    return step === undefined || came === undefined
      ? []
      : [{ index, action: step.action.name, why: whyLeft(step, came) }];
  });
};
