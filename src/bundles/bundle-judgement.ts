import { setImmediate as nextTurn } from "node:timers/promises";
import { comesFromResult, type Reference } from "../../domain/bundle/results.ts";
import { defined } from "../../domain/defined.ts";
import type { Origin, Run } from "../../domain/delivery/events.ts";
import { type CompiledCost, costGate, costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import type { GateName, GateOutcome, GateResult } from "../../domain/gate/verdict.ts";
import {
  Judge,
  type JudgeDeps,
  type Judgement,
  type JudgementInput,
  ownGates,
  type Places,
  type PolicyAsked,
  type PolicyUse,
} from "../admission/judge.ts";
import { policyOfEndpoint, samenessOf } from "../admission/judge-request.ts";
import { bytesOf, type Checks, directChecks } from "../gates/checks.ts";
import { askedLater, clip } from "../gates/policy-gates.ts";
import type { Trace } from "../streams/envelope.ts";
import type { Plan, PlannedStep } from "./plan.ts";

export type BundleToJudge = {
  readonly bundleId: string;
  readonly account: string;
  readonly origin: Origin;
  readonly policyId: string | null;
  readonly plan: Plan;
  readonly headers: Readonly<Record<string, string>>;
  readonly run: Run;
  readonly trace: Trace;
};

/** Micro-euros, one for each step; null if a step's cost is unknown or was not computed. */
export type JudgedBundle = Judgement & { readonly costs: readonly (number | null)[] };

const SEVERITY: Readonly<Record<GateOutcome, number>> = { allow: 0, hold: 1, deny: 2 };

const worse = (a: GateResult, b: GateResult): GateResult => {
  if (SEVERITY[a.outcome] !== SEVERITY[b.outcome]) return SEVERITY[b.outcome] > SEVERITY[a.outcome] ? b : a;
  if (a.outcome === "hold" || a.detail === b.detail) return a;
  return { ...a, detail: clip(`${a.detail}; ${b.detail}`) };
};

const oneEach = (results: readonly GateResult[]): readonly GateResult[] => {
  const found = new Map<string, GateResult>();
  for (const result of results) {
    const key = `${result.gate} ${result.policy?.id ?? ""}`;
    const before = found.get(key);
    found.set(key, before === undefined ? result : worse(before, result));
  }
  return [...found.values()];
};

type StepGates = { readonly index: number; readonly gates: readonly GateResult[] };

/** A detail names its step by index, unless the gate allows every step with the same detail. */
const ofSteps = (steps: readonly StepGates[]): readonly GateResult[] => {
  const said = new Map<GateName, Set<string>>();
  for (const { gate, detail } of steps.flatMap(({ gates }) => gates)) {
    said.set(gate, (said.get(gate) ?? new Set()).add(detail));
  }
  return oneEach(
    steps.flatMap(({ index, gates }) =>
      gates.map((gate) =>
        gate.outcome === "allow" && said.get(gate.gate)?.size === 1
          ? gate
          : { ...gate, detail: clip(`step ${index}: ${gate.detail}`) },
      ),
    ),
  );
};

const countedBy = (keys: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

const isLater = (rule: CompiledCost | null, references: readonly Reference[]): boolean =>
  rule !== null && "path" in rule && comesFromResult(references, rule.path);

const ownOfStep = async (
  checks: Checks,
  account: string,
  { step, isInScope, compiled, payload, references }: PlannedStep,
): Promise<readonly GateResult[]> => {
  const cost = isLater(compiled.cost, references) ? null : compiled.cost;
  const asked = { account, payload: () => payload, body: () => bytesOf(payload) };
  const own = (asks: typeof compiled): Promise<readonly GateResult[]> =>
    ownGates(checks, { action: step.action, isInScope, compiled: { ...asks, cost } }, asked);
  if (!step.uses_results || compiled.schema === null) return own(compiled);
  const known = await own({ ...compiled, schema: null });
  return isInScope ? [...known, askedLater("schema")] : known;
};

/** The rule that prices the step: the action's takes precedence over the policy's. */
const costRuleOf = ({ compiled }: PlannedStep, policy: PolicyAsked | null): CompiledCost | null =>
  compiled.cost ?? policy?.compiled.cost ?? null;

/** Null if the cost is unknown. The policy's default does not replace an amount that a later result will contain. */
const costOfStep = (step: PlannedStep, policy: PolicyAsked | null): number | null => {
  const rule = costRuleOf(step, policy);
  if (rule === null || isLater(rule, step.references)) return null;
  const cost = costOf(rule, step.payload);
  return typeof cost === "number" ? cost : null;
};

const whyUnknown = (it: PlannedStep, policy: PolicyAsked): string => {
  const rule = costRuleOf(it, policy);
  const why = isLater(rule, it.references)
    ? "its amount comes from the result of an earlier step"
    : whyCostUnknown(rule, it.payload, it.compiled.cost === null ? "policy" : "action");
  return `step ${it.step.index}: ${why}`;
};

const policyCostGate = ({ compiled, payload, references }: PlannedStep, policy: PolicyAsked): GateResult[] =>
  compiled.cost !== null || isLater(policy.compiled.cost, references)
    ? []
    : costGate(policy.compiled.cost, payload, "policy");

const sumOf = (costs: readonly (number | null)[]): number | null =>
  costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);

const higher = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const stepsUnder = ({ steps }: Plan, { steps: indexes }: PolicyUse): readonly PlannedStep[] =>
  indexes === undefined ? steps : steps.filter(({ step }) => indexes.includes(step.index));

const policiesFor = async (
  aggregates: JudgeDeps["aggregates"],
  { account, policyId, plan: { steps } }: Pick<BundleToJudge, "account" | "policyId" | "plan">,
): Promise<readonly PolicyUse[]> => {
  const under = new Map<string, Set<number>>();
  const apply = (id: string | null, index: number): void => {
    if (id !== null) under.set(id, (under.get(id) ?? new Set()).add(index));
  };
  for (const { step } of steps) apply(policyId, step.index);
  for (const { step, compiled } of steps) {
    apply(compiled.policyId, step.index);
    apply(await policyOfEndpoint(aggregates, account, step.endpoint_id), step.index);
  }
  return [...under].map(([id, indexes]) =>
    indexes.size === steps.length ? { id } : { id, steps: [...indexes].sort((a, b) => a - b) },
  );
};

/**
 * Asks every gate about a bundle, for one verdict. A policy is asked about the sum of its steps' costs, so that an
 * agent does not get below a threshold by splitting, and its ledgers reserve one place for each step.
 */
export const bundleJudgement = (deps: JudgeDeps): ((it: BundleToJudge, places?: Places) => Promise<JudgedBundle>) => {
  const judge = new Judge(deps);
  const { checks = directChecks } = deps;

  /** Yields between two steps, so that this thread answers other requests meanwhile. */
  const eachStep = async (
    steps: readonly PlannedStep[],
    ask: (step: PlannedStep) => Promise<readonly GateResult[]>,
  ): Promise<readonly GateResult[]> => {
    const results: StepGates[] = [];
    for (const step of steps) {
      if (results.length > 0) await nextTurn();
      results.push({ index: step.step.index, gates: await ask(step) });
    }
    return ofSteps(results);
  };

  const check = async (
    { account, plan, origin, headers }: BundleToJudge,
    policy: PolicyAsked,
    costs: (number | null)[],
  ) => {
    const steps = stepsUnder(plan, policy);
    const own = steps.map((step) => costOfStep(step, policy));
    steps.forEach(({ step: { index } }, at) => {
      costs[index] = higher(costs[index] ?? null, own[at] ?? null);
    });
    const unknown = steps.find((_, at) => own[at] === null);
    const cost = sumOf(own);
    const missing = defined({ costMissing: unknown && whyUnknown(unknown, policy) });
    const gates = await eachStep(steps, async (planned) => {
      const { step, payload } = planned;
      const { gates } = await checks.policy(policy, {
        account,
        payload: () => payload,
        body: () => bytesOf(payload),
        isStrict: true,
        headers,
        source: null,
        agent: { id: origin.id, name: origin.name },
        action: step.action.name,
        costMicro: cost,
        ...missing,
        ...(step.uses_results ? { asks: "without-payload" } : {}),
      });
      return gates;
    });
    // As for a single request, a wrong amount is reported before the denials that follow from the unknown cost.
    const amounts = steps.map((it) => ({ index: it.step.index, gates: policyCostGate(it, policy) }));
    return { gates: [...ofSteps(amounts), ...gates], cost, ...missing };
  };

  return async (it, places = "take") => {
    const { bundleId: id, account, plan, run, trace } = it;
    const costs: (number | null)[] = plan.steps.map(() => null);
    const judging: JudgementInput = {
      ...{ id, account, run, trace },
      policies: () => policiesFor(deps.aggregates, it),
      countsForPlan: false,
      places: (policy) => stepsUnder(plan, policy).length,
      identical: (policy) =>
        countedBy(stepsUnder(plan, policy).map(({ sameness }) => samenessOf(deps.digestKey, sameness))),
      own: () => eachStep(plan.steps, (step) => ownOfStep(checks, account, step)),
      check: (policy) => check(it, policy, costs),
      cost: () => {
        for (const step of plan.steps) costs[step.step.index] ??= costOfStep(step, null);
        return sumOf(costs);
      },
    };
    const judged = await judge.judge(judging, places);
    return { ...judged, verdict: { ...judged.verdict, gates: oneEach(judged.verdict.gates) }, costs };
  };
};
