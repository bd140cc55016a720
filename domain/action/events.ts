import type { ActionDefinition } from "./definition.ts";

/** Stream `action-<id>`, its id derived from account and name: an action made again continues the versions. */
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
