import type { ActionDefinition } from "../../domain/action/definition.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import { type TurnThread, turnThread } from "../threads/turn-thread.ts";
import type { ActionInput } from "./action-input.ts";
import type { ActionCompiler } from "./compiled-action.ts";
import type { PolicyCompiler } from "./compiled-policy.ts";
import type { Validated } from "./policy-input.ts";

export type ValidatePolicy = (
  definition: unknown,
  account: string,
) => Validated<PolicyDefinition> | Promise<Validated<PolicyDefinition>>;
export type ValidateAction = (
  name: string,
  input: ActionInput,
  account: string,
) => Validated<ActionDefinition> | Promise<Validated<ActionDefinition>>;

export type DefinitionOrder =
  | { readonly kind: "policy"; readonly definition: unknown }
  | { readonly kind: "action"; readonly name: string; readonly input: ActionInput };
export type DefinitionAnswer = Validated<PolicyDefinition> | Validated<ActionDefinition>;

export type DefinitionThread = TurnThread<DefinitionOrder, DefinitionAnswer>;

const ANSWER_MS = 10_000;
const HEAP_MB = 256;

const LOST: DefinitionAnswer = { ok: false, errors: [{ path: "", message: "takes too long to compile" }] };

export const definitionThread = (): DefinitionThread =>
  turnThread<DefinitionOrder, DefinitionAnswer>({
    ...{ name: "definitions", program: new URL("./definition-worker", import.meta.url) },
    // The number of waiting orders has no limit of its own, because the definition rate limits their bytes.
    ...{ waitingMax: Number.POSITIVE_INFINITY, heapMb: HEAP_MB, answerMs: ANSWER_MS, lost: () => LOST },
  });

/** Bytes. A definition up to this size is compiled on the main thread, which takes 4 ms, and 16 ms at worst. */
const DIRECT_DEFINITION_BYTES_MAX = 2_048;

const isSmall = (definition: unknown): boolean =>
  Buffer.byteLength(JSON.stringify(definition) ?? "") <= DIRECT_DEFINITION_BYTES_MAX;

export const definitions = (
  thread: Pick<DefinitionThread, "run">,
  compile: { readonly policy: PolicyCompiler; readonly action: ActionCompiler },
): { readonly policy: ValidatePolicy; readonly action: ValidateAction } => {
  const elsewhere = async (account: string, order: DefinitionOrder): Promise<DefinitionAnswer> => {
    const answer = await thread.run(account, order);
    return answer === "full" ? LOST : answer;
  };
  return {
    policy: async (definition, account) => {
      if (isSmall(definition)) return compile.policy(definition);
      // The thread answers an order for a policy with a policy's definition.
      return (await elsewhere(account, { kind: "policy", definition })) as Validated<PolicyDefinition>;
    },
    action: async (name, input, account) => {
      if (isSmall(input)) return compile.action(name, input);
      // The thread answers an order for an action with an action's definition.
      return (await elsewhere(account, { kind: "action", name, input })) as Validated<ActionDefinition>;
    },
  };
};
