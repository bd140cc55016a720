import type { ActionDefinition, Reversibility } from "../../domain/action/definition.ts";
import { LABEL_LENGTH_MAX, LABELS_MAX, parseTitle } from "../../domain/action/title.ts";
import { defined } from "../../domain/defined.ts";
import { isActionName } from "../../domain/evidence/action-name.ts";
import { escapePointer, parseFieldPath } from "../../domain/gate/field-path.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import { type DefinitionError, isSchema, parseCost, type Report, type Validated } from "./policy-input.ts";

export type ActionInput = {
  readonly endpoint_id: string;
  readonly schema?: unknown;
  readonly cost?: unknown;
  readonly reversibility: Reversibility;
  readonly compensation?: string;
  readonly policy_id?: string | null;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
};

const checkLabels = (labels: Readonly<Record<string, string>>, report: Report): void => {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) report("/labels", `has more than ${LABELS_MAX} labels`);
  for (const [pointer, label] of entries) {
    const at = `/labels/${escapePointer(pointer)}`;
    if (!pointer.startsWith("/") || parseFieldPath(pointer) === null)
      report(at, "must be a JSON Pointer, such as /amount");
    if (label.trim() === "" || label.length > LABEL_LENGTH_MAX || visibleLine(label) !== label)
      report(at, `must be one line of 1 to ${LABEL_LENGTH_MAX} visible characters`);
  }
};

export const parseAction = (name: string, input: ActionInput): Validated<ActionDefinition> => {
  const errors: DefinitionError[] = [];
  const report: Report = (path, message) => errors.push({ path, message });
  const { endpoint_id, schema, cost, reversibility, compensation, policy_id = null, title, labels } = input;
  if (schema !== undefined && !isSchema(schema)) report("/schema", "must be a JSON Schema: an object, true or false");
  const costRule = cost === undefined ? null : parseCost(cost, report);
  if (compensation !== undefined) {
    if (!isActionName(compensation)) report("/compensation", "must be the name of an action");
    else if (compensation === name) report("/compensation", "is this action itself: what takes it back is another");
    if (reversibility === "irreversible")
      report("/compensation", "is for actions that can be taken back, this one is irreversible");
  }
  const parsed = title === undefined ? null : parseTitle(title);
  if (parsed?.ok === false) report("/title", parsed.message);
  if (labels !== undefined) checkLabels(labels, report);
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
      title,
      labels,
    }),
  };
};
