import type { DefinedAction } from "../../domain/action/decider.ts";
import type { ActionDefinition } from "../../domain/action/definition.ts";
import { type CompiledCost, compileCost } from "../../domain/gate/cost.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type ActionInput, parseAction } from "./action-input.ts";
import { CompileCache, type CompilePace } from "./compile-cache.ts";
import { jsonValues } from "./json-values.ts";
import { type Meter, meter } from "./meter.ts";
import type { DefinitionError } from "./policy-input.ts";
import { type PayloadSchema, schemaCompiler } from "./schemas.ts";

export type CompiledAction = {
  readonly work: Meter;
  readonly schema: PayloadSchema | null;
  readonly schemaText: JsonObject | boolean | null;
  readonly cost: CompiledCost | null;
  /** The policy that applies to every caller of the action; null if the action has none. */
  readonly policyId: string | null;
  /** True if the schema is too long to compile here, or the account used up its rate: another thread checks it. */
  readonly isUncompiled?: true;
};

type ActionCompilation =
  | { readonly ok: true; readonly definition: ActionDefinition; readonly action: CompiledAction }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

export type ActionCompiler = (name: string, input: ActionInput) => ActionCompilation;

export const actionCompiler = (workMax?: number): ActionCompiler => {
  const work = meter(workMax);
  const compileSchema = schemaCompiler(jsonValues(work), work);
  return (name, input) => {
    const parsed = parseAction(name, input);
    if (!parsed.ok) return parsed;
    const { definition } = parsed;
    const schema = definition.schema === undefined ? null : compileSchema(definition.schema);
    if (schema !== null && !schema.ok) {
      return { ok: false, errors: schema.errors.map(({ path, message }) => ({ path: `/schema${path}`, message })) };
    }
    const cost = definition.cost === undefined ? null : compileCost(definition.cost);
    const { policy_id: policyId = null } = definition;
    return {
      ok: true,
      definition,
      action: { work, schema: schema?.schema ?? null, schemaText: definition.schema ?? null, cost, policyId },
    };
  };
};

export type CompiledActions = { get(action: DefinedAction): CompiledAction };

/** If `pace` refuses to compile an action's schema here, another thread has to check payloads (`isUncompiled`). */
export const compiledActions = (
  compile: ActionCompiler = actionCompiler(),
  pace: CompilePace = () => true,
): CompiledActions => {
  const cache = new CompileCache<CompiledAction>();
  const made = (name: string, definition: ActionDefinition): CompiledAction => {
    const compiled = compile(name, definition);
    if (compiled.ok) return compiled.action;
    throw new Error(`${name} was published and does not compile: ${JSON.stringify(compiled.errors[0])}`);
  };
  return {
    get({ account, actionId, version, name, definition }) {
      const key = `${actionId}/${version}`;
      const known = cache.get(account, key);
      if (known !== undefined) return known;
      const { schema: schemaText, cost, policy_id: policyId = null } = definition;
      // Of an action's definition, only the schema takes long to compile.
      if (typeof schemaText === "object" && !pace(account, schemaText)) {
        const mismatch = (payload: unknown) => made(name, definition).schema?.mismatch(payload) ?? null;
        const costRule = cost === undefined ? null : compileCost(cost);
        return { work: meter(), schema: { mismatch }, schemaText, cost: costRule, policyId, isUncompiled: true };
      }
      const action = made(name, definition);
      cache.add(account, key, action);
      return action;
    },
  };
};
