import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { PolicyCheck, PolicyInput } from "./policy-gates.ts";

/** What a check rests on. `key` names the definition: the thread keeps what it has compiled. */
export type CheckOrder = {
  readonly account: string;
  readonly key: string;
  readonly definition: PolicyDefinition;
  readonly input: Omit<PolicyInput, "payload" | "ambiguous">;
  /** As of `Question`. */
  readonly isStrict: boolean;
};

export type ThreadOrder = { readonly order: CheckOrder; readonly body: Uint8Array };

/** `work`: what it took, in units of the meter. */
export type CheckAnswer = { readonly check: PolicyCheck; readonly work: number };
