import type { ActionDefinition } from "./definition.ts";

/** Stream `action-<id>`, whose id is derived from account and name. Versions go on after a deletion. */
export type ActionEvent =
  | {
      readonly type: "ActionDefined";
      readonly data: {
        readonly action_id: string;
        readonly account: string;
        readonly name: string;
        readonly version: number;
        readonly definition: ActionDefinition;
        readonly by: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "ActionDeleted";
      readonly data: {
        readonly action_id: string;
        readonly account: string;
        readonly name: string;
        readonly at: string;
      };
    };
