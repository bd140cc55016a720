import type { Bundle, RunningBundle, StepState } from "./state.ts";

/** What the bundles' reactor does next. Each of these may be done twice, so a crash only delays the bundle. */
export type Next =
  | { readonly do: "start"; readonly index: number }
  | { readonly do: "admit"; readonly index: number }
  /** Admits the running step's delivery if it is absent, and cancels it, so that no slower node can send it later. */
  | { readonly do: "cancel-step"; readonly index: number }
  | { readonly do: "undo"; readonly index: number }
  | { readonly do: "admit-undo"; readonly index: number }
  | { readonly do: "wait" }
  | { readonly do: "nothing" };

const NOTHING: Next = { do: "nothing" };

export const isUnderWay = ({ phase }: StepState): boolean => phase === "running";

export const nextToUndo = ({ steps }: Pick<RunningBundle, "steps">): number | null => {
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
  const index = nextToUndo(state);
  if (index === null) return NOTHING;
  return { do: steps[index]?.phase === "undoing" ? "admit-undo" : "undo", index };
};

export const nextOf = (state: Bundle): Next => {
  if (state.phase === "held") return { do: "wait" };
  return state.phase === "running" ? nextOfRunning(state) : NOTHING;
};
