import { allowed, denied, type GateName, type GateResult, held } from "../../domain/gate/verdict.ts";
import type { ApprovalRule } from "../../domain/policy/definition.ts";
import type { Condition, ConditionInput } from "./conditions.ts";
import { TooCostly } from "./meter.ts";
import type { PayloadSchema } from "./schemas.ts";

/** One event for the stateless gates. */
export type PolicyInput = {
  /** Parsed JSON; undefined when the body is none. */
  readonly payload: unknown;
  /** Two readers may read it differently (a duplicate key), or it is too deep: no gate can speak for the receiver. */
  readonly ambiguous: boolean;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly source: ConditionInput["source"] | null;
  readonly agent: ConditionInput["agent"] | null;
  readonly action: string | null;
  /** Micro-euros, when something else than the policy's own rule says what the request costs; null: it cannot tell. */
  readonly costMicro?: number | null;
  /** Why that cannot tell. */
  readonly costMissing?: string;
  /** Micro-euros that a known cost is raised to. */
  readonly atLeastMicro?: number;
  /** Of a bundle's step whose payload is not known yet, then once it is: the gates that read none, or the others. Left out: all. */
  readonly asks?: "without-payload" | "with-payload";
};

export type PolicyCheck = {
  /**
   * Those that the policy has, in the order schema, require_fields, cost, content, approval; of an ambiguous payload content
   * and approval alone. The last holds: whatever else is asked may still refuse.
   */
  readonly gates: readonly GateResult[];
  /** Micro-euros; null when there is no rule, or it cannot be determined. */
  readonly cost: number | null;
  /** Why `cost` is null. */
  readonly costMissing?: string;
};

export type NamedCondition = { readonly name: string; readonly condition: Condition };

/** A gate's detail is one line in lists and logs. */
const DETAIL_MAX = 400;

const TOO_COSTLY = "the payload takes too much work to check";

export const clip = (text: string): string => (text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text);

/** What is asked about a payload that is not known yet. */
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
    // Of a few schemas that compile the validator makes code that throws (ajv 8.20 on `anyOf` with a `$ref` beside
    // `patternProperties`): what cannot be checked has not passed.
    return denied("schema", "evaluation-error", "the schema cannot be applied to this payload");
  }
};

/** All rules are asked: who corrects a policy or a sender wants to know of each. A match outranks a failure. */
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

/** Asked even where another gate denies: with a policy that only observes, this one still holds. */
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

/** Headers as JSON: absent ones are not there, repeated ones are a list. */
export const headersJson = (headers: PolicyInput["headers"]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));

export const ambiguous = (gate: GateName): GateResult =>
  denied(gate, "ambiguous-payload", "the JSON can be read in two ways (a duplicate key), or is too deep to be checked");

/** Micro-euros; `costMissing` says why they are not known. */
export type Cost = Pick<PolicyCheck, "cost" | "costMissing">;
