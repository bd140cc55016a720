import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { PolicyCheck, PolicyInput } from "./policy-gates.ts";

export type CheckOrder = {
  readonly account: string;
  readonly key: string;
  readonly definition: PolicyDefinition;
  readonly input: Omit<PolicyInput, "payload" | "ambiguous">;
  readonly isStrict: boolean;
};

export type ThreadOrder = { readonly order: CheckOrder; readonly body: Uint8Array };

/** `work` is what the check took, in units of the meter. */
export type CheckAnswer = { readonly check: PolicyCheck; readonly work: number };
