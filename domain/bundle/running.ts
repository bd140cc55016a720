import type { BundleEvent, BundleRequest } from "./events.ts";
import type { BundleEnd, RunningBundle, StepState } from "./state.ts";

const PENDING: StepState = {
  startedAt: null,
  payload: null,
  outcome: null,
  refusal: null,
  cost: null,
  isReported: false,
  isNeverSent: false,
  undo: { payload: null, startedAt: null, outcome: null, cost: null },
  resolution: null,
};

export const running = (request: BundleRequest, admittedAt: string, approvalId: string | null): RunningBundle => ({
  phase: "running",
  request,
  admittedAt,
  approvalId,
  steps: request.steps.map(() => PENDING),
  rollback: null,
  end: null,
  endedAt: null,
});

const withStep = (
  state: RunningBundle,
  index: number,
  change: (step: StepState) => Partial<StepState>,
): RunningBundle => ({
  ...state,
  steps: state.steps.map((step, at) => (at === index ? { ...step, ...change(step) } : step)),
});

const END = {
  BundleCommitted: "committed",
  BundleRolledBack: "rolled_back",
  RollbackIncomplete: "rollback_incomplete",
} as const satisfies Partial<Record<BundleEvent["type"], BundleEnd>>;

/** Of a bundle that was admitted or released; what is no event of such a one changes nothing. */
export const evolveRunning = (state: RunningBundle, event: BundleEvent): RunningBundle => {
  switch (event.type) {
    case "StepStarted": {
      const { index, payload, at: startedAt } = event.data;
      return withStep(state, index, () => ({ startedAt, payload }));
    }
    case "StepRefused": {
      const { index, code, detail } = event.data;
      return withStep(state, index, () => ({ outcome: "refused", refusal: { code, detail } }));
    }
    case "StepEnded": {
      const { index, outcome, cost, reported, never_sent } = event.data;
      const known = { outcome, cost, isReported: reported === true, isNeverSent: never_sent === true };
      return withStep(state, index, () => known);
    }
    case "RollbackStarted": {
      const { reason, index, at } = event.data;
      return { ...state, rollback: { reason, index, at } };
    }
    case "UndoStarted": {
      const { index, payload, at: startedAt } = event.data;
      return withStep(state, index, ({ undo }) => ({ undo: { ...undo, payload, startedAt } }));
    }
    case "StepUndone": {
      const { index, outcome, cost } = event.data;
      return withStep(state, index, ({ undo }) => ({ undo: { ...undo, outcome, cost } }));
    }
    case "StepResolved": {
      const { index, by, comment, at } = event.data;
      return withStep(state, index, () => ({ resolution: { by, comment, at } }));
    }
    case "BundleCommitted": {
      const { reason, at: endedAt } = event.data;
      // Also of one that was to be rolled back too late: nothing of it was.
      const late = reason === undefined ? {} : { tooLate: reason };
      return { ...state, ...late, rollback: null, end: END[event.type], endedAt };
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
