import type { Step, UndoOutcome } from "./events.ts";
import type { Bundle, RunningBundle, StepState } from "./state.ts";

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

export type StepToUndoByHand = { readonly index: number; readonly action: string; readonly why: string };

export const isToUndoByHand = (step: StepState): boolean =>
  step.phase === "undone" && (step.undo.outcome === "failed" || step.undo.outcome === "impossible");

export const indexesToUndoByHand = ({ steps }: Pick<RunningBundle, "steps">): readonly number[] =>
  steps.flatMap((step, index) => (isToUndoByHand(step) ? [index] : []));

export const bundleStatus = (state: Bundle): BundleStatus => {
  if (state.phase === "held") return "held";
  if (state.phase === "stopped") return "cancelled";
  if (state.phase !== "running") return "blocked";
  // Once people have undone the remaining steps by hand, the rollback counts as complete.
  if (state.end === "rollback_incomplete") return indexesToUndoByHand(state).length === 0 ? "rolled_back" : state.end;
  return state.end ?? (state.rollback === null ? "running" : "rolling_back");
};

export const wasSent = (step: StepState): boolean =>
  step.phase === "running" || ("outcome" in step && !step.isNeverSent);

const undoStatus: Readonly<Record<UndoOutcome, StepStatus>> = {
  compensated: "compensated",
  "not-needed": "compensated",
  failed: "compensation_failed",
  impossible: "unknown",
};

const stepStatus = (step: StepState, isOver: boolean): StepStatus => {
  switch (step.phase) {
    case "pending":
      return isOver ? "skipped" : "pending";
    case "refused":
      return "skipped";
    case "running":
      return "running";
    case "resolved":
      return "compensated";
    case "ended":
    case "undoing":
      return step.isNeverSent ? "skipped" : step.outcome;
    case "undone":
      if (step.undo.outcome !== "not-needed" || step.outcome !== "failed") return undoStatus[step.undo.outcome];
      return step.isNeverSent ? "skipped" : "failed";
  }
};

export const stepStatuses = (state: Bundle): readonly StepStatus[] => {
  switch (state.phase) {
    case "absent":
    case "abandoned":
      return [];
    case "blocked":
      return state.refused.steps.map(() => "skipped");
    case "held":
      return state.request.steps.map(() => "pending");
    case "stopped":
      return state.request.steps.map(() => "skipped");
    case "running":
      return state.steps.map((step) => stepStatus(step, state.rollback !== null));
  }
};

const whyByHand = ({ compensation }: Step, step: StepState): string => {
  if ("undo" in step && step.undo.outcome === "failed")
    return `Its compensation ${compensation?.name ?? ""} did not succeed.`;
  return "outcome" in step && step.outcome === "unknown"
    ? "Nothing takes it back, and it may have done what it was asked."
    : "Nothing takes it back.";
};

export const stepsToUndoByHand = (state: Bundle): readonly StepToUndoByHand[] => {
  if (state.phase !== "running") return [];
  return indexesToUndoByHand(state).flatMap((index) => {
    const [step, progress] = [state.request.steps[index], state.steps[index]];
    return step === undefined || progress === undefined
      ? []
      : [{ index, action: step.action.name, why: whyByHand(step, progress) }];
  });
};
