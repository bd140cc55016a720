import type { Json, JsonObject } from "../json.ts";

/** What people are shown of a change: the target as it is and as it would be. Null: it is not there. */
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
        /** The request for approval, so that it is the same however often it is made. */
        readonly approval: JsonObject;
        /** What the stream of controls is told, and the command for the target's own stream. */
        readonly control: JsonObject;
        readonly command: JsonObject;
        readonly by: string;
        readonly at: string;
      };
    }
  /** It has a place and was never held: from now on it is not. */
  | { readonly type: "ChangeAbandoned"; readonly data: { readonly change_id: string; readonly at: string } }
  | { readonly type: "ChangeApplied"; readonly data: About }
  /** The target is no longer what the approvers were shown. */
  | { readonly type: "ChangeVoided"; readonly data: About & { readonly reason: string } }
  | {
      readonly type: "ChangeEnded";
      readonly data: About & { readonly outcome: "rejected" | "expired" | "cancelled"; readonly reason: string };
    };

type About = { readonly change_id: string; readonly approval_id: string; readonly at: string };
