import type { Json, JsonObject } from "../json.ts";

/** The target as it is and as it would be; null if it does not exist. */
export type ShownChange = {
  readonly target: { readonly kind: string; readonly id: string };
  readonly before: Json;
  readonly after: Json;
};

/** Stream `change-<id>`: a change that weakens a protected policy, held until its approvers have decided. */
export type ChangeEvent =
  | {
      readonly type: "ChangeHeld";
      readonly data: ShownChange & {
        readonly change_id: string;
        readonly account: string;
        readonly approval_id: string;
        /** The request for approval, recorded so that a repeat requests the same. */
        readonly approval: JsonObject;
        /** The command for the stream of controls, and the command for the target's own stream. */
        readonly control: JsonObject;
        readonly command: JsonObject;
        readonly by: string;
        readonly at: string;
      };
    }
  /** The change had a place and was never held. It can no longer be held. */
  | { readonly type: "ChangeAbandoned"; readonly data: { readonly change_id: string; readonly at: string } }
  | { readonly type: "ChangeApplied"; readonly data: About }
  /** The target has changed since the approvers saw it. */
  | { readonly type: "ChangeVoided"; readonly data: About & { readonly reason: string } }
  | {
      readonly type: "ChangeEnded";
      readonly data: About & { readonly outcome: "rejected" | "expired" | "cancelled"; readonly reason: string };
    };

type About = { readonly change_id: string; readonly approval_id: string; readonly at: string };
