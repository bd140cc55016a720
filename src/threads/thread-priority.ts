import { constants, setPriority } from "node:os";

/** Linux has a priority for each thread (sched(7)): if processors are scarce, threads that answer requests go first. */
export const yieldToOthers = (): void => {
  if (process.platform !== "linux") return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid the call, and the thread works without it.
  }
};
