import type { ActionDefinition } from "./definition.ts";

/** Stream `action-<id>`; the id is derived from account and name. A name defined again goes on counting versions. */
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
