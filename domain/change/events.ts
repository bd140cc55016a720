import type { ApprovalRequest } from "../approval/events.ts";
import type { ControlChange } from "../change-control/control-change.ts";
import type { JsonObject } from "../json.ts";
import type { Reason } from "../personal/words.ts";
import type { ShownChange } from "./shown-change.ts";

/** Stream `change-<id>`: a change that weakens a protected policy waits here until its approvers have decided. */
export type ChangeEvent =
  | {
      readonly type: "ChangeHeld";
      readonly data: ShownChange & {
        readonly change_id: string;
        readonly account: string;
        readonly approval_id: string;
        /** The approval is recorded with the hold, so that a repeat after a crash requests the same approval. */
        readonly approval: ApprovalRequest;
        /** `control` is the command for the stream of controls, `command` the one for the target's own stream. */
        readonly control: ControlChange;
        readonly command: JsonObject;
        readonly by: string;
        readonly at: string;
      };
    }
  /** An abandoned change had a place but was never held, and can no longer be held. */
  | { readonly type: "ChangeAbandoned"; readonly data: { readonly change_id: string; readonly at: string } }
  | { readonly type: "ChangeApplied"; readonly data: About }
  /** A change is void if its target has changed since the approvers saw it. */
  | { readonly type: "ChangeVoided"; readonly data: About & { readonly reason: Reason } }
  | {
      readonly type: "ChangeEnded";
      readonly data: About & { readonly outcome: "rejected" | "expired" | "cancelled"; readonly reason: Reason };
    };

type About = { readonly change_id: string; readonly approval_id: string; readonly at: string };
