import { type CompiledCost, compileCost, costGate, costOf, eurOrNull, whyCostUnknown } from "../../domain/gate/cost.ts";
import { parseFieldPath } from "../../domain/gate/field-path.ts";
import { type RequiredField, requireFields } from "../../domain/gate/require-fields.ts";
import type { GateName, GateResult } from "../../domain/gate/verdict.ts";
import type { ApprovalRule, DenyRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import { CompileCache, type CompilePace } from "./compile-cache.ts";
import { type CompiledCondition, type Condition, type ConditionInput, conditionCompiler } from "./conditions.ts";
import { jsonValues } from "./json-values.ts";
import { type Meter, meter } from "./meter.ts";
import {
  ambiguous,
  approvalGate,
  askedLater,
  type Cost,
  contentGate,
  headersJson,
  type NamedCondition,
  NO_AGENT,
  NO_SOURCE,
  notJson,
  type PolicyCheck,
  type PolicyInput,
  schemaGate,
} from "./policy-gates.ts";
import { type DefinitionError, parseDefinition } from "./policy-input.ts";
import { type PayloadSchema, schemaCompiler } from "./schemas.ts";

export type CompiledPolicy = {
  /** True if a gate or the cost depends on the payload, or if the payload may be shown to approvers. */
  readonly readsPayload: boolean;
  readonly cost: CompiledCost | null;
  /** True if the policy is too long to compile here, or the account used up its rate: another thread checks it. */
  readonly isUncompiled?: true;
  readonly work: Pick<Meter, "used">;
  check(input: PolicyInput): PolicyCheck;
};

type PolicyCompilation =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly definition: PolicyDefinition }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

export type PolicyCompiler = (definition: unknown) => PolicyCompilation;

type Parts = {
  readonly schema: PayloadSchema | null;
  readonly required: readonly RequiredField[];
  readonly rules: readonly NamedCondition[];
  readonly cost: CompiledCost | null;
  readonly approval: { readonly rule: ApprovalRule; readonly when: Condition | null } | null;
};

const compiledPolicy = ({ schema, required, rules, cost: costRule, approval }: Parts, work: Meter): CompiledPolicy => {
  const readsPayload =
    schema !== null ||
    required.length > 0 ||
    (costRule !== null && "path" in costRule) ||
    approval !== null ||
    rules.some(({ condition }) => condition.reads.has("payload"));

  const seenOf = (input: PolicyInput, { cost, costMissing }: Cost): ConditionInput => ({
    payload: input.payload,
    headers: headersJson(input.headers),
    source: input.source ?? NO_SOURCE,
    agent: input.agent ?? NO_AGENT,
    action: input.action ?? "",
    cost_eur: eurOrNull(cost),
    costMissing: costMissing ?? "",
  });

  const costIn = (input: PolicyInput): Cost => {
    const { payload, costMicro, atLeastMicro = 0 } = input;
    const found = costMicro === undefined && costRule !== null ? costOf(costRule, payload) : costMicro;
    if (typeof found === "number") return { cost: Math.max(found, atLeastMicro) };
    return { cost: null, costMissing: input.costMissing ?? whyCostUnknown(costRule, payload, "policy") };
  };

  const stated = (input: PolicyInput, cost: Cost): readonly GateResult[] => {
    const { payload, asks } = input;
    const isAsked = (reads: boolean): boolean => asks === undefined || reads === (asks === "with-payload");
    /** A bundle's first verdict lists every gate: one that needs a payload not known yet says it is asked later. */
    const orLater = (gate: GateName, reads: boolean, ask: () => GateResult): readonly GateResult[] => {
      if (isAsked(reads)) return [ask()];
      return asks === "without-payload" ? [askedLater(gate)] : [];
    };
    const gates: GateResult[] = [];
    if (schema !== null) gates.push(...orLater("schema", true, () => schemaGate(schema, payload)));
    if (required.length > 0) {
      const requires = (): GateResult =>
        payload === undefined ? notJson("require_fields") : requireFields(required, payload);
      gates.push(...orLater("require_fields", true, requires));
    }
    if (input.costMicro === undefined) gates.push(...costGate(costRule, payload, "policy"));
    const asked = rules.filter(({ condition }) => isAsked(condition.reads.has("payload")));
    if (asked.length > 0) gates.push(contentGate(asked, seenOf(input, cost), rules.length));
    else if (rules.length > 0 && asks === "without-payload") gates.push(askedLater("content"));
    if (approval !== null) {
      const reads = approval.when?.reads.has("payload") === true;
      gates.push(...orLater("approval", reads, () => approvalGate(approval.rule, approval.when, seenOf(input, cost))));
    }
    return gates;
  };

  return {
    readsPayload,
    cost: costRule,
    work,
    check(input) {
      work.reset();
      const cost = costIn(input);
      // No other gate is asked about an ambiguous payload, because they would recurse as deep as it is nested.
      if (input.ambiguous && readsPayload) {
        return { gates: [ambiguous("content"), ...(approval === null ? [] : [ambiguous("approval")])], ...cost };
      }
      return { gates: stated(input, cost), ...cost };
    },
  };
};

const compileRules = (
  rules: readonly DenyRule[],
  compile: (source: string) => CompiledCondition,
  errors: DefinitionError[],
): NamedCondition[] =>
  rules.flatMap(({ name, when }, index) => {
    const compiled = compile(when);
    if (compiled.ok) return [{ name, condition: compiled.condition }];
    const { ok: _, ...complaint } = compiled;
    errors.push({ path: `/deny/${index}/when`, ...complaint });
    return [];
  });

const compileWhen = (
  { when }: ApprovalRule,
  compile: (source: string) => CompiledCondition,
  errors: DefinitionError[],
): Condition | null => {
  if (when === undefined) return null;
  const compiled = compile(when);
  if (compiled.ok) return compiled.condition;
  const { ok: _, ...complaint } = compiled;
  errors.push({ path: "/approval/when", ...complaint });
  return null;
};

/** The `path` of an error is a JSON Pointer into the definition. `workMax` limits one check, in units of the meter. */
export const policyCompiler = (workMax?: number): PolicyCompiler => {
  const work = meter(workMax);
  const compileSchema = schemaCompiler(jsonValues(work), work);

  return (input) => {
    const parsed = parseDefinition(input);
    if (!parsed.ok) return parsed;
    const { definition } = parsed;
    const errors: DefinitionError[] = [];

    const schema = definition.schema === undefined ? null : compileSchema(definition.schema);
    if (schema !== null && !schema.ok) {
      errors.push(...schema.errors.map(({ path, message }) => ({ path: `/schema${path}`, message })));
    }
    const deny = definition.deny ?? [];
    const asks = definition.approval;
    let conditions: ReturnType<typeof conditionCompiler> | null = null;
    const compileCondition = (source: string): CompiledCondition => {
      conditions ??= conditionCompiler(work);
      return conditions(source);
    };
    const rules = compileRules(deny, compileCondition, errors);
    const approval = asks === undefined ? null : { rule: asks, when: compileWhen(asks, compileCondition, errors) };
    if (errors.length > 0) return { ok: false, errors };

    const parts: Parts = {
      schema: schema?.ok ? schema.schema : null,
      required: (definition.require_fields ?? []).map((name) => ({ name, path: parseFieldPath(name) ?? [] })),
      rules,
      cost: definition.cost === undefined ? null : compileCost(definition.cost),
      approval,
    };
    return { ok: true, definition, policy: compiledPolicy(parts, work) };
  };
};

export type CompiledPolicies = {
  get(account: string, policyId: string, version: number, definition: PolicyDefinition): CompiledPolicy;
};

const takesLong = ({ schema, deny = [], approval }: PolicyDefinition): boolean =>
  typeof schema === "object" || deny.length > 0 || approval?.when !== undefined;

export const compiledPolicies = (
  compile: PolicyCompiler = policyCompiler(),
  pace: CompilePace = () => true,
): CompiledPolicies => {
  const cache = new CompileCache<CompiledPolicy>();
  const made = (key: string, definition: PolicyDefinition): CompiledPolicy => {
    const compiled = compile(definition);
    if (compiled.ok) return compiled.policy;
    throw new Error(`${key} was published and does not compile: ${JSON.stringify(compiled.errors[0])}`);
  };
  return {
    get(account, policyId, version, definition) {
      const key = `${policyId}/${version}`;
      const known = cache.get(account, key);
      if (known !== undefined) return known;
      if (takesLong(definition) && !pace(account, definition)) {
        const cost = definition.cost === undefined ? null : compileCost(definition.cost);
        const check = (input: PolicyInput): PolicyCheck => made(key, definition).check(input);
        return { readsPayload: true, isUncompiled: true, cost, work: { used: 0 }, check };
      }
      const policy = made(key, definition);
      cache.add(account, key, policy);
      return policy;
    },
  };
};
