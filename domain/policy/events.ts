import type { Words } from "../personal/words.ts";
import type { PolicyDefinition } from "./definition.ts";

export type PolicyEvent = {
  readonly type: "PolicyPublished";
  readonly data: {
    readonly policy_id: string;
    readonly account: string;
    readonly version: number;
    readonly definition: PolicyDefinition;
    readonly created_by: string;
    /** Why this version was published; missing if nobody wrote it. */
    readonly reason?: Words;
    readonly at: string;
  };
};
