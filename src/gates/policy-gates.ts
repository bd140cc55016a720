import { allowed, denied, type GateName, type GateResult, held } from "../../domain/gate/verdict.ts";
import type { ApprovalRule } from "../../domain/policy/definition.ts";
import type { Condition, ConditionInput } from "./conditions.ts";
import { TooCostly } from "./meter.ts";
import type { PayloadSchema } from "./schemas.ts";

export type PolicyInput = {
  /** Undefined if the body is not JSON, or if the policy does not read the payload. */
  readonly payload: unknown;
  /** True if a name is duplicate or the nesting too deep: the receiver may read something else than the gates. */
  readonly ambiguous: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly source: ConditionInput["source"] | null;
  readonly agent: ConditionInput["agent"] | null;
  readonly action: string | null;
  /**
   * Micro-euros by the action's cost rule, which replaces the policy's. Null if the action's rule finds no amount,
   * undefined if the action has no cost rule.
   */
  readonly costMicro?: number | null | undefined;
  readonly costMissing?: string;
  /** Micro-euros that the agent expects. A lower cost is raised to this amount. */
  readonly atLeastMicro?: number;
  /**
   * A bundle's step whose payload is known only later is checked twice: first by the gates that need no payload, then
   * by the others. Absent if all gates are asked at once.
   */
  readonly asks?: "without-payload" | "with-payload";
};

export type PolicyCheck = {
  /** In the order schema, require_fields, cost, content, approval; only the last two for an ambiguous payload. */
  readonly gates: readonly GateResult[];
  /** Micro-euros; null if no rule finds an amount, and `costMissing` says why. */
  readonly cost: number | null;
  readonly costMissing?: string;
};

export type NamedCondition = { readonly name: string; readonly condition: Condition };

const DETAIL_MAX = 400;

const TOO_COSTLY = "the payload takes too much work to check";

export const clip = (text: string): string => (text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text);

export const askedLater = (gate: GateName): GateResult => allowed(gate, "asked once the payload is known");

export const notJson = (gate: GateName): GateResult =>
  denied(gate, "not-json", "the body is not JSON, and the policy reads it");

export const schemaGate = (schema: PayloadSchema, payload: unknown): GateResult => {
  if (payload === undefined) return notJson("schema");
  try {
    const mismatch = schema.mismatch(payload);
    if (mismatch === null) return allowed("schema", "matches");
    return denied(
      "schema",
      "schema-mismatch",
      `${mismatch.at === "" ? "the payload" : mismatch.at} ${mismatch.message}`,
    );
  } catch (error) {
    if (error instanceof TooCostly) return denied("schema", "too-costly", TOO_COSTLY);
    // Ajv 8.20 generates code that throws for `anyOf` with a `$ref` next to `patternProperties`.
    return denied("schema", "evaluation-error", "the schema cannot be applied to this payload");
  }
};

/** All rules are evaluated, because an author wants to know every match. A match outranks a rule that fails. */
export const contentGate = (rules: readonly NamedCondition[], seen: ConditionInput, ofAll: number): GateResult => {
  const matched: string[] = [];
  let failed: GateResult | null = null;
  for (const { name, condition } of rules) {
    if (condition.reads.has("payload") && seen.payload === undefined) {
      failed ??= notJson("content");
      continue;
    }
    const result = condition.evaluate(seen);
    if (result.outcome === "true") matched.push(`"${name}"`);
    else if (result.outcome === "error")
      failed ??= denied("content", result.code, clip(`rule "${name}": ${result.detail}`));
  }
  if (matched.length > 0) return denied("content", "denied-by-rule", clip(`refused by ${matched.join(", ")}`));
  return failed ?? allowed("content", `${rules.length} of ${ofAll} rules passed`);
};

/** The approval gate is asked even if another gate denies: under a policy that only observes, it still holds. */
export const approvalGate = (
  { min_approvals: people = 1 }: ApprovalRule,
  when: Condition | null,
  seen: ConditionInput,
): GateResult => {
  const needed = held("approval", "needs-approval", people === 1 ? "needs an approval" : `needs ${people} approvals`);
  if (when === null) return needed;
  if (when.reads.has("payload") && seen.payload === undefined) return notJson("approval");
  const result = when.evaluate(seen);
  if (result.outcome === "error") return denied("approval", result.code, clip(`approval: ${result.detail}`));
  return result.outcome === "true" ? needed : allowed("approval", "needs none");
};

export const NO_SOURCE: ConditionInput["source"] = { id: "", name: "", type: "" };

export const NO_AGENT: ConditionInput["agent"] = { id: "", name: "" };

export const headersJson = (headers: PolicyInput["headers"]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));

export const ambiguous = (gate: GateName): GateResult =>
  denied(gate, "ambiguous-payload", "the JSON can be read in two ways (a duplicate key), or is too deep to be checked");

export type Cost = Pick<PolicyCheck, "cost" | "costMissing">;
