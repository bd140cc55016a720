import type { PolicyDefinition } from "./definition.ts";

/** `definition` has passed `parseDefinition` and compiles. */
type Publish = {
  readonly policyId: string;
  readonly account: string;
  readonly definition: PolicyDefinition;
  readonly by: string;
  readonly at: string;
};

export type PolicyCommand =
  | ({ readonly type: "PublishPolicy" } & Publish)
  /** A further version of a policy that is there. */
  | ({ readonly type: "PublishPolicyVersion" } & Publish);
