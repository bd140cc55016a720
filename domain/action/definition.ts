import type { JsonObject } from "../json.ts";
import type { CostRule } from "../policy/definition.ts";

export const REVERSIBILITIES = ["reversible", "compensable", "irreversible"] as const;
/** Reversible: nothing has to be undone. Compensable: another action (the compensation) undoes it. */
export type Reversibility = (typeof REVERSIBILITIES)[number];

/** Money is in euros as the author wrote it. */
export type ActionDefinition = {
  readonly endpoint_id: string;
  readonly schema?: JsonObject | boolean;
  readonly cost?: CostRule;
  readonly reversibility: Reversibility;
  /** The action that undoes this one; optional for a reversible one. */
  readonly compensation?: string;
  /** A policy that each request for the action has to pass. */
  readonly policy_id?: string;
};
