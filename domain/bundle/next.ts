import type { Bundle, RunningBundle, StepState } from "./decider.ts";

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

const isUnderWay = ({ startedAt, outcome }: StepState): boolean => startedAt !== null && outcome === null;

const nextOfRunning = ({ steps, rollback, end }: RunningBundle): Next => {
  if (end !== null) return NOTHING;
  const running = steps.findIndex(isUnderWay);
  if (running !== -1) return { do: rollback === null ? "admit" : "cancel-step", index: running };
  if (rollback === null) {
    const index = steps.findIndex(({ startedAt }) => startedAt === null);
    return index === -1 ? NOTHING : { do: "start", index };
  }
  const index = steps.findLastIndex(({ startedAt, undo }) => startedAt !== null && undo.outcome === null);
  if (index === -1) return NOTHING;
  return { do: steps[index]?.undo.payload === null ? "undo" : "admit-undo", index };
};

/** One thing at a time: a step behind the one before it, an undo behind the one before it. */
export const nextOf = (state: Bundle): Next => {
  if (state.phase === "held") return { do: "wait" };
  return state.phase === "running" ? nextOfRunning(state) : NOTHING;
};
