import type { AppliedChanges } from "../../src/controls/changes.ts";
import type { Controls } from "../../src/controls/control-change.ts";

/** For a test that is not about controls: every change may be made, and nothing is recorded for it. */
export const noControls: Controls = {
  authorize: async () => null,
  withdraw: async () => undefined,
  liftsAt: async () => null,
  cancelLift: async () => null,
};

/** For a test in which no change is held. */
export const noChanges: AppliedChanges = { hindrance: async () => null, apply: async () => undefined };
