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
  /** For a policy that exists. */
  | ({ readonly type: "PublishPolicyVersion" } & Publish);
