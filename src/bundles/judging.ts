import { setImmediate as nextTurn } from "node:timers/promises";
import { comesFromResult, type Reference } from "../../domain/bundle/results.ts";
import type { Origin, Run } from "../../domain/delivery/events.ts";
import { type CompiledCost, costGate, costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import type { GateName, GateOutcome, GateResult } from "../../domain/gate/verdict.ts";
import {
  type JudgeDeps,
  type Judged,
  type Judging,
  ownGates,
  type Places,
  type PolicyAsked,
  type PolicyUse,
  verdicts,
} from "../admission/judge.ts";
import { policyOfEndpoint, samenessOf } from "../admission/judge-request.ts";
import { bytesOf, type Checks, directChecks } from "../gates/checks.ts";
import { askedLater, clip } from "../gates/policy-gates.ts";
import type { Trace } from "../streams/envelope.ts";
import type { Plan, PlannedStep } from "./plan.ts";

/** A bundle that can be done: whether it may be is asked here. */
export type BundleJudging = {
  readonly bundleId: string;
  readonly account: string;
  readonly origin: Origin;
  readonly policyId: string | null;
  readonly plan: Plan;
  readonly headers: Readonly<Record<string, string>>;
  readonly run: Run;
  readonly trace: Trace;
};

/** `costs`: micro-euros, one for each step; null for what is not known, or was not asked. */
export type JudgedBundle = Judged & { readonly costs: readonly (number | null)[] };

const SEVERITY: Readonly<Record<GateOutcome, number>> = { allow: 0, hold: 1, deny: 2 };

/** What two say of one gate: the worse of it; where both let it pass, all that they say. */
const worse = (a: GateResult, b: GateResult): GateResult => {
  if (SEVERITY[a.outcome] !== SEVERITY[b.outcome]) return SEVERITY[b.outcome] > SEVERITY[a.outcome] ? b : a;
  if (a.outcome !== "allow" || a.detail === b.detail) return a;
  return { ...a, detail: clip(`${a.detail}; ${b.detail}`) };
};

/** One result a gate of each policy, in the order in which they come first. */
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

/** One result a gate of what each step's gates say; whose it is, unless all say the same. */
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

/** Whether the rule reads what the result of an earlier step will be, which is not known yet. */
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

/** What a step costs by the rule of its action, else of the policy. */
const costRuleOf = ({ compiled }: PlannedStep, policy: PolicyAsked | null): CompiledCost | null =>
  compiled.cost ?? policy?.compiled.cost ?? null;

/** Null where it is not known, which includes an amount from a later result: no default stands for that. */
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

/** What the policy's own rule says of a step's amount, where the action has no rule. */
const policyCostGate = ({ compiled, payload, references }: PlannedStep, policy: PolicyAsked): GateResult[] =>
  compiled.cost !== null || isLater(policy.compiled.cost, references)
    ? []
    : costGate(policy.compiled.cost, payload, "policy");

/** Null where one of them is not known. */
const sumOf = (costs: readonly (number | null)[]): number | null =>
  costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);

/** The higher of two costs of one step, as far as they are known. */
const higher = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const stepsUnder = ({ steps }: Plan, { steps: indexes }: PolicyUse): readonly PlannedStep[] =>
  indexes === undefined ? steps : steps.filter(({ step }) => indexes.includes(step.index));

/**
 * The agent's own policy applies to all steps, that of an action or an endpoint to its own steps. A policy that applies to
 * all of them in any way is asked about the whole bundle.
 */
const policiesFor = async (
  aggregates: JudgeDeps["aggregates"],
  { account, policyId, plan: { steps } }: Pick<BundleJudging, "account" | "policyId" | "plan">,
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
 * Asks every gate about a bundle, for one verdict: each step by its own payload and action, all steps under a policy with
 * what they cost together, as an agent must not get below a threshold by splitting; and the ledgers once, for as many places
 * as there are steps under the policy.
 */
export const bundleJudgement = (deps: JudgeDeps): ((it: BundleJudging, places?: Places) => Promise<JudgedBundle>) => {
  const judge = verdicts(deps);
  const { checks = directChecks } = deps;

  /** Others are answered between two steps. */
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
    { account, plan, origin, headers }: BundleJudging,
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
    const missing = unknown === undefined ? {} : { costMissing: whyUnknown(unknown, policy) };
    const gates = await eachStep(steps, async (planned) => {
      const { step, payload } = planned;
      const { gates } = await checks.policy(policy, {
        account,
        payload: () => payload,
        body: () => bytesOf(payload),
        // What an agent sends was read in the one way there is.
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
    // As for a single request: a wrong amount is named before what depends on the cost.
    const amounts = steps.map((it) => ({ index: it.step.index, gates: policyCostGate(it, policy) }));
    return { gates: [...ofSteps(amounts), ...gates], cost, ...missing };
  };

  return async (it, places = "take") => {
    const { bundleId: id, account, plan, run, trace } = it;
    const costs: (number | null)[] = plan.steps.map(() => null);
    const judging: Judging = {
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
    const judged = await judge(judging, places);
    // An action's schema and a policy's are one gate.
    return { ...judged, verdict: { ...judged.verdict, gates: oneEach(judged.verdict.gates) }, costs };
  };
};
