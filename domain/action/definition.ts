import type { JsonObject } from "../json.ts";
import type { CostRule } from "../policy/definition.ts";

export const REVERSIBILITIES = ["reversible", "compensable", "irreversible"] as const;
/** Nothing has to undo a reversible action; another action, its compensation, undoes a compensable one. */
export type Reversibility = (typeof REVERSIBILITIES)[number];

/** Amounts are in euros as the action's author wrote them, not in micro-euros. */
export type ActionDefinition = {
  readonly endpoint_id: string;
  readonly schema?: JsonObject | boolean;
  readonly cost?: CostRule;
  readonly reversibility: Reversibility;
  readonly compensation?: string;
  readonly policy_id?: string;
  /** The template of the sentence that people decide on (`title.ts`). */
  readonly title?: string;
  /** What people call a field, by its JSON Pointer (RFC 6901). */
  readonly labels?: Readonly<Record<string, string>>;
};
