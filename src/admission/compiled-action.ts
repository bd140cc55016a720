import type { DefinedAction } from "../../domain/action/decider.ts";
import { type ActionDefinition, type ActionInput, parseAction } from "../../domain/action/definition.ts";
import { type CompiledCost, compileCost } from "../../domain/gate/cost.ts";
import type { DefinitionError } from "../../domain/policy/parse-definition.ts";
import type { JsonObject } from "../../domain/ports.ts";
import { jsonValues } from "./json-values.ts";
import { type Meter, meter } from "./meter.ts";
import { type PayloadSchema, schemaCompiler } from "./schemas.ts";

/** What a request for the action is checked by. */
export type CompiledAction = {
  /** To be reset before each check. */
  readonly work: Meter;
  readonly schema: PayloadSchema | null;
  /** As it was written. */
  readonly schemaText: JsonObject | boolean | null;
  readonly cost: CompiledCost | null;
  /** Applies whoever asks for the action; null for none. */
  readonly policyId: string | null;
};

export type ActionCompilation =
  | { readonly ok: true; readonly definition: ActionDefinition; readonly action: CompiledAction }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

export type ActionCompiler = (name: string, input: ActionInput) => ActionCompilation;

/** Checks an action completely and makes of it what a request is checked by. `path` is a JSON Pointer into the action. */
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

/** A compiled schema is some 100 kB. */
const COMPILED_MAX = 500;

/** Compiled actions by id and version, the least recently used dropped first. */
export const compiledActions = (compile: ActionCompiler = actionCompiler()): CompiledActions => {
  const cache = new Map<string, CompiledAction>();
  return {
    get({ actionId, version, name, definition }) {
      const key = `${actionId}/${version}`;
      let compiled = cache.get(key);
      if (compiled === undefined) {
        const made = compile(name, definition);
        // What an earlier build took and this one cannot read lets nothing through.
        compiled = made.ok
          ? made.action
          : { work: meter(), schema: unreadable(made.errors), schemaText: false, cost: null, policyId: null };
      } else cache.delete(key);
      cache.set(key, compiled);
      if (cache.size > COMPILED_MAX) {
        const [oldest] = cache.keys();
        if (oldest !== undefined) cache.delete(oldest);
      }
      return compiled;
    },
  };
};

const unreadable = ([first]: readonly DefinitionError[]): PayloadSchema => ({
  mismatch: () => ({
    at: "",
    message: `is for an action that is not valid any more: ${first?.path} ${first?.message}`,
  }),
});
