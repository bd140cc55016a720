import type { Bundle, RunningBundle, StepState } from "./state.ts";

/** What a process manager does for a bundle as it stands. Each may be done again: a crash behind any of it only delays. */
export type Next =
  /** Make the step's payload, and record its start (`StartStep`) or why it cannot be (`RefuseStep`). */
  | { readonly do: "start"; readonly index: number }
  /** Its start is recorded: see to it that its delivery is admitted, and record its end once it has one (`EndStep`). */
  | { readonly do: "admit"; readonly index: number }
  /** As `admit`, but no attempt may follow: its delivery is admitted, so that nobody can admit it later, and cancelled. */
  | { readonly do: "cancel-step"; readonly index: number }
  /** Record the start of the step's undo (`StartUndo`). */
  | { readonly do: "undo"; readonly index: number }
  /** As `admit`, of the undo's delivery (`EndUndo`). */
  | { readonly do: "admit-undo"; readonly index: number }
  /** People decide. */
  | { readonly do: "wait" }
  | { readonly do: "nothing" };

const NOTHING: Next = { do: "nothing" };

/** Its delivery may have been admitted, and its end is not recorded. */
export const isUnderWay = ({ phase }: StepState): boolean => phase === "running";

/** Of the steps that were started and have no undo outcome yet the one that was started last; null when there is none. */
export const undoneNext = ({ steps }: Pick<RunningBundle, "steps">): number | null => {
  const index = steps.findLastIndex(({ phase }) => phase === "running" || phase === "ended" || phase === "undoing");
  return index === -1 ? null : index;
};

const nextOfRunning = (state: RunningBundle): Next => {
  const { steps, rollback, end } = state;
  if (end !== null) return NOTHING;
  const running = steps.findIndex(isUnderWay);
  if (running !== -1) return { do: rollback === null ? "admit" : "cancel-step", index: running };
  if (rollback === null) {
    const index = steps.findIndex(({ phase }) => phase === "pending");
    return index === -1 ? NOTHING : { do: "start", index };
  }
  const index = undoneNext(state);
  if (index === null) return NOTHING;
  return { do: steps[index]?.phase === "undoing" ? "admit-undo" : "undo", index };
};

/** One thing at a time: a step behind the one before it, an undo behind the one before it. */
export const nextOf = (state: Bundle): Next => {
  if (state.phase === "held") return { do: "wait" };
  return state.phase === "running" ? nextOfRunning(state) : NOTHING;
};
