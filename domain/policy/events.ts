import type { PolicyDefinition } from "./definition.ts";

export type PolicyEvent = {
  readonly type: "PolicyPublished";
  readonly data: {
    readonly policy_id: string;
    readonly account: string;
    readonly version: number;
    readonly definition: PolicyDefinition;
    readonly created_by: string;
    readonly at: string;
  };
};
