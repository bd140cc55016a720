import { setImmediate as nextTurn } from "node:timers/promises";
import { comesFromResult, type Reference } from "../../domain/bundle/results.ts";
import type { Origin, Run } from "../../domain/delivery/events.ts";
import { type CompiledCost, costGate, costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import type { GateName, GateOutcome, GateResult } from "../../domain/gate/verdict.ts";
import { askedLater, clip } from "../admission/compiled-policy.ts";
import { type JudgeDeps, type Judged, ownGates, type PolicyAsked, samenessOf, verdicts } from "../admission/judge.ts";
import type { Trace } from "../envelope.ts";
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

/** One result a gate, in the order in which they come first. */
const oneEach = (results: readonly GateResult[]): readonly GateResult[] => {
  const found = new Map<GateName, GateResult>();
  for (const result of results) {
    const before = found.get(result.gate);
    found.set(result.gate, before === undefined ? result : worse(before, result));
  }
  return [...found.values()];
};

/** One result a gate of what each step's gates say; whose it is, unless all say the same. */
const ofSteps = (steps: readonly (readonly GateResult[])[]): readonly GateResult[] => {
  const said = new Map<GateName, Set<string>>();
  for (const { gate, detail } of steps.flat()) said.set(gate, (said.get(gate) ?? new Set()).add(detail));
  return oneEach(
    steps.flatMap((gates, index) =>
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

const ownOfStep = ({ step, isInScope, compiled, payload, references }: PlannedStep): readonly GateResult[] => {
  const cost = isLater(compiled.cost, references) ? null : compiled.cost;
  const own = (asks: typeof compiled): readonly GateResult[] =>
    ownGates({ action: step.action, isInScope, compiled: { ...asks, cost } }, () => payload);
  if (!step.uses_results || compiled.schema === null) return own(compiled);
  const known = own({ ...compiled, schema: null });
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

/**
 * Asks every gate about a bundle, for one verdict: each step by its own payload and action, all of them with what the
 * whole costs, as an agent must not get below a threshold by splitting; and the ledgers once, for as many places as it has steps.
 */
export const bundleJudgement = (deps: JudgeDeps): ((it: BundleJudging) => Promise<JudgedBundle>) => {
  const judge = verdicts(deps);

  /** A step's gates may take long (`WORK_MAX`): others are answered between two of them. */
  const eachStep = async (
    { steps }: Plan,
    ask: (step: PlannedStep) => readonly GateResult[],
  ): Promise<readonly GateResult[]> => {
    const results: (readonly GateResult[])[] = [];
    for (const step of steps) {
      if (results.length > 0) await nextTurn();
      results.push(ask(step));
    }
    return ofSteps(results);
  };

  const check = async (
    { plan, origin, headers }: BundleJudging,
    policy: PolicyAsked | null,
    costs: (number | null)[],
  ) => {
    for (const step of plan.steps) costs[step.step.index] = costOfStep(step, policy);
    const unknown = plan.steps.find(({ step }) => costs[step.index] === null);
    const cost = unknown === undefined ? costs.reduce<number>((sum, it) => sum + (it ?? 0), 0) : null;
    if (policy === null) return { gates: [], cost };
    const missing = unknown === undefined ? {} : { costMissing: whyUnknown(unknown, policy) };
    const gates = await eachStep(plan, (planned) => {
      const { step, payload } = planned;
      const { gates } = policy.compiled.check({
        payload,
        // What an agent sends was read in the one way there is.
        ambiguous: false,
        headers,
        source: null,
        agent: { id: origin.id, name: origin.name },
        action: step.action.name,
        costMicro: cost,
        ...missing,
        ...(step.uses_results ? { asks: "without-payload" } : {}),
      });
      return [...policyCostGate(planned, policy), ...gates];
    });
    return { gates, cost, ...missing };
  };

  return async (it) => {
    const { bundleId: id, account, policyId, plan, run, trace } = it;
    const costs: (number | null)[] = plan.steps.map(() => null);
    const judged = await judge({
      ...{ id, account, policyId, run, trace },
      countsForPlan: false,
      places: plan.steps.length,
      identical: () => countedBy(plan.steps.map(({ sameness }) => samenessOf(deps.digestKey, sameness))),
      own: () => eachStep(plan, ownOfStep),
      check: (policy) => check(it, policy, costs),
    });
    // An action's schema and a policy's are one gate.
    return { ...judged, verdict: { ...judged.verdict, gates: oneEach(judged.verdict.gates) }, costs };
  };
};
