import { defined } from "../defined.ts";
import type { BundleEvent, BundleRequest } from "./events.ts";
import type { BundleEnd, RunningBundle, StepState } from "./state.ts";

export const running = (request: BundleRequest, admittedAt: string, approvalId: string | null): RunningBundle => ({
  phase: "running",
  request,
  admittedAt,
  approvalId,
  steps: request.steps.map(() => ({ phase: "pending" })),
  rollback: null,
  end: null,
  endedAt: null,
});

const withStep = (state: RunningBundle, index: number, change: (step: StepState) => StepState): RunningBundle => ({
  ...state,
  steps: state.steps.map((step, at) => (at === index ? change(step) : step)),
});

const END = {
  BundleCommitted: "committed",
  BundleRolledBack: "rolled_back",
  RollbackIncomplete: "rollback_incomplete",
} as const satisfies Partial<Record<BundleEvent["type"], BundleEnd>>;

export const evolveRunning = (state: RunningBundle, event: BundleEvent): RunningBundle => {
  switch (event.type) {
    case "StepStarted": {
      const { index, payload, at: startedAt } = event.data;
      return withStep(state, index, (step) =>
        step.phase === "pending" ? { phase: "running", startedAt, payload } : step,
      );
    }
    case "StepRefused": {
      const { index, code, detail } = event.data;
      return withStep(state, index, (step) =>
        step.phase === "pending" ? { phase: "refused", refusal: { code, detail } } : step,
      );
    }
    case "StepEnded": {
      const { index, outcome, cost, reported, never_sent } = event.data;
      const end = { outcome, cost, isReported: reported === true, isNeverSent: never_sent === true };
      return withStep(state, index, (step) => (step.phase === "running" ? { ...step, ...end, phase: "ended" } : step));
    }
    case "RollbackStarted": {
      const { reason, index, at } = event.data;
      return { ...state, rollback: { reason, index, at } };
    }
    case "UndoStarted": {
      const { index, payload, at: startedAt } = event.data;
      return withStep(state, index, (step) =>
        step.phase === "ended" ? { ...step, phase: "undoing", undoStart: { startedAt, payload } } : step,
      );
    }
    case "StepUndone": {
      const { index, outcome, cost } = event.data;
      return withStep(state, index, (step) => {
        if (step.phase === "ended") return { ...step, phase: "undone", undo: { outcome, cost, start: null } };
        if (step.phase !== "undoing") return step;
        const { undoStart: start, ...ended } = step;
        return { ...ended, phase: "undone", undo: { outcome, cost, start } };
      });
    }
    case "StepResolved": {
      const { index, by, comment, at } = event.data;
      return withStep(state, index, (step) =>
        step.phase === "undone" ? { ...step, phase: "resolved", resolution: { by, comment, at } } : step,
      );
    }
    case "BundleCommitted": {
      const { reason, at: endedAt } = event.data;
      // The last, irreversible step succeeded in spite of a cancellation, so nothing is undone.
      return { ...state, ...defined({ tooLate: reason }), rollback: null, end: END[event.type], endedAt };
    }
    case "BundleRolledBack":
    case "RollbackIncomplete":
      return { ...state, end: END[event.type], endedAt: event.data.at };
    case "BundleCostDetermined":
      return { ...state, spent: event.data.cost };
    default:
      return state;
  }
};
