import { defined } from "../defined.ts";
import { because } from "../personal/words.ts";
import { costOfStep, costOfSteps } from "./cost.ts";
import type { BundleEvent, Step, UndoOutcome } from "./events.ts";
import { isUnderWay, nextToUndo } from "./next.ts";
import { evolveRunning } from "./running.ts";
import { type RunningBundle, type StepState, startOf } from "./state.ts";
import { indexesToUndoByHand, wasSent } from "./status.ts";

/** The outcome of an undo that sends nothing; null if a compensation has to be tried. */
const outcomeWithoutRequest = ({ reversibility, compensation }: Step, step: StepState): UndoOutcome | null => {
  if (step.phase !== "ended") return null;
  if (step.outcome === "failed") return "not-needed";
  if (compensation !== null) return null;
  return reversibility === "reversible" ? "not-needed" : "impossible";
};

/** Once a last, irreversible step has succeeded, even a cancelled bundle commits: that step could not be undone. */
const isCommitted = ({ request, steps, rollback }: RunningBundle): boolean =>
  steps.every((step) => step.phase === "ended" && step.outcome === "succeeded") &&
  (rollback === null || request.steps.at(-1)?.reversibility === "irreversible");

const endOf = (state: RunningBundle, at: string): BundleEvent => {
  const { bundle_id } = state.request;
  if (isCommitted(state)) {
    const { rollback } = state;
    const reason = rollback === null ? undefined : because("The cancellation came too late", rollback.reason);
    return { type: "BundleCommitted", data: defined({ bundle_id, reason, at }) };
  }
  const left = indexesToUndoByHand(state);
  return left.length === 0
    ? { type: "BundleRolledBack", data: { bundle_id, at } }
    : { type: "RollbackIncomplete", data: { bundle_id, left, at } };
};

/** Micro-euros; null for a step that was never sent, 0 for a step that cannot have reached a receiver. */
const spentOn = (step: StepState): number | null => (wasSent(step) ? (costOfStep(step) ?? 0) : null);

const ending = (state: RunningBundle, at: string): readonly BundleEvent[] => {
  const { bundle_id, ledgers = [], cost: estimate } = state.request;
  const events = state.request.steps.filter((_, index) => startOf(state.steps[index]) !== null);
  const data = {
    ...{ bundle_id, ledgers, estimate, cost: costOfSteps(state.steps), steps: state.steps.map(spentOn), at },
    events: events.map(({ event_id }) => event_id),
  };
  return [endOf(state, at), { type: "BundleCostDetermined", data }];
};

/** Adds all that follows without sending a request: undos that need no compensation, and the bundle's end. */
export const withConclusion = (
  before: RunningBundle,
  events: readonly BundleEvent[],
  at: string,
): readonly BundleEvent[] => {
  const state = events.reduce(evolveRunning, before);
  if (state.steps.some(isUnderWay)) return events;
  if (isCommitted(state)) return [...events, ...ending(state, at)];
  if (state.rollback === null) return events;

  const index = nextToUndo(state);
  if (index === null) return [...events, ...ending(state, at)];
  const [step, progress] = [state.request.steps[index], state.steps[index]];
  const outcome = step === undefined || progress === undefined ? null : outcomeWithoutRequest(step, progress);
  if (outcome === null) return events;
  const { bundle_id } = state.request;
  const undone: BundleEvent = { type: "StepUndone", data: { bundle_id, index, outcome, cost: null, at } };
  return [...events, ...withConclusion(state, [undone], at)];
};
