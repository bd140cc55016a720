import { constants, setPriority } from "node:os";

/** Linux has a priority for each thread (sched(7)): the calling thread lets those go first that answer requests. */
export const yieldToOthers = (): void => {
  if (process.platform !== "linux") return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid the call; the thread then works at its usual priority.
  }
};
