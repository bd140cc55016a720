import type { JsonObject } from "../json.ts";
import type { CostRule } from "../policy/definition.ts";

export const REVERSIBILITIES = ["reversible", "compensable", "irreversible"] as const;
/**
 * What has to be done to take it back: nothing, as it leaves nothing behind (it reads, or expires by itself); another action
 * (its compensation); or there is nothing that takes it back.
 */
export type Reversibility = (typeof REVERSIBILITIES)[number];

/** What an action says, as it was put. Money is in euros as the author wrote it. */
export type ActionDefinition = {
  readonly endpoint_id: string;
  readonly schema?: JsonObject | boolean;
  readonly cost?: CostRule;
  readonly reversibility: Reversibility;
  /** The action that takes this one back; a reversible one may do without. */
  readonly compensation?: string;
  /** A policy that each request for the action has to pass, whoever asks. */
  readonly policy_id?: string;
};
