import type { Controls } from "../../src/change-control/control-change.ts";
import type { AppliedChanges } from "../../src/change-control/held-changes.ts";

/** For a test that is not about controls: every change may be made, and nothing is recorded for it. */
export const noControls: Controls = {
  authorize: async () => null,
  withdraw: async () => undefined,
  liftsAt: async () => null,
  cancelLift: async () => null,
};

/** For a test in which no change is held. */
export const noChanges: AppliedChanges = { hindrance: async () => null, apply: async () => undefined };
