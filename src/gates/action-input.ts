import type { ActionDefinition, Reversibility } from "../../domain/action/definition.ts";
import { isActionName } from "../../domain/action/name.ts";
import { defined } from "../../domain/defined.ts";
import { type DefinitionError, isSchema, parseCost, type Report, type Validated } from "./policy-input.ts";

export type ActionInput = {
  readonly endpoint_id: string;
  readonly schema?: unknown;
  readonly cost?: unknown;
  readonly reversibility: Reversibility;
  readonly compensation?: string;
  readonly policy_id?: string | null;
};

export const parseAction = (name: string, input: ActionInput): Validated<ActionDefinition> => {
  const errors: DefinitionError[] = [];
  const report: Report = (path, message) => errors.push({ path, message });
  const { endpoint_id, schema, cost, reversibility, compensation, policy_id = null } = input;
  if (schema !== undefined && !isSchema(schema)) report("/schema", "must be a JSON Schema: an object, true or false");
  const costRule = cost === undefined ? null : parseCost(cost, report);
  if (compensation !== undefined) {
    if (!isActionName(compensation)) report("/compensation", "must be the name of an action");
    else if (compensation === name) report("/compensation", "is this action itself: what takes it back is another");
    if (reversibility === "irreversible")
      report("/compensation", "is for actions that can be taken back, this one is irreversible");
  }
  if (errors.length > 0) return { ok: false, errors };
  return {
    ok: true,
    definition: defined({
      endpoint_id,
      schema: isSchema(schema) ? schema : undefined,
      cost: costRule ?? undefined,
      reversibility,
      compensation,
      policy_id: policy_id ?? undefined,
    }),
  };
};
