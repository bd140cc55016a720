import type { Words } from "../personal/words.ts";
import type { PolicyDefinition } from "./definition.ts";

/** The definition was validated by `parseDefinition` and compiles. */
type Publish = {
  readonly policyId: string;
  readonly account: string;
  readonly definition: PolicyDefinition;
  /** Why it is published; missing if its publisher wrote nothing. */
  readonly reason?: Words;
  readonly by: string;
  readonly at: string;
};

export type PolicyCommand =
  | ({ readonly type: "PublishPolicy" } & Publish)
  | ({ readonly type: "PublishPolicyVersion" } & Publish);
