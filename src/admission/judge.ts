import type { Plan } from "../../domain/account/plans.ts";
import { defined } from "../../domain/defined.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { costGate } from "../../domain/gate/cost.ts";
import { decideAll, deniedBy, deniedByAny, type GateGroup } from "../../domain/gate/decide.ts";
import { type AppliedPolicy, allowed, denied, type GateResult, type Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { AccountTerms } from "../accounts/account-terms.ts";
import type { Checks, Question } from "../gates/checks.ts";
import type { CompiledPolicies, CompiledPolicy } from "../gates/compiled-policy.ts";
import type { AgentRequest } from "../gates/incoming-request.ts";
import type { PolicyCheck } from "../gates/policy-gates.ts";
import type { Ledgers, Reservation } from "../ledgers/ledgers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Trace } from "../streams/envelope.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import { askLedgers } from "./ask-ledgers.ts";
import { type LedgerVerdict, ledgerGates } from "./ledger-gates.ts";
import type { LedgerInput, TakenPlace } from "./limit-results.ts";

export type JudgeDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly policies: CompiledPolicies;
  readonly checks?: Checks;
  readonly accountOf: AccountTerms["accountOf"];
  /** Ledgers of repetitions are named by a digest under this key: a plain one could reveal an erased payload. */
  readonly digestKey: Uint8Array;
};

/** `steps` are the indexes of the bundle's steps to which the policy applies; absent if it applies to all. */
export type PolicyUse = Pick<AppliedPolicy, "id" | "steps">;

export type PolicyAsked = AppliedPolicy & {
  readonly definition: PolicyDefinition;
  readonly compiled: CompiledPolicy;
};

export type JudgementInput = {
  readonly id: string;
  readonly account: string;
  readonly policies: () => OrPromise<readonly PolicyUse[]>;
  readonly countsForPlan: boolean;
  readonly run: Run | null;
  readonly places: (policy: PolicyUse) => number;
  readonly identical: (policy: PolicyUse) => ReadonlyMap<string, number>;
  readonly trace: Trace;
  /** The gates of the agent and the action. They come first, so that their denial reveals nothing of a policy. */
  readonly own: () => OrPromise<readonly GateResult[]>;
  readonly check: (policy: PolicyAsked) => OrPromise<PolicyCheck>;
  /** Micro-euros for the whole request; null if unknown. */
  readonly cost: (checked: readonly PolicyCheck[]) => number | null;
};

/** "ask" decides without taking places in ledgers. */
export type Places = "take" | "ask";

export type Judgement = {
  readonly verdict: Verdict;
  readonly deniedBy: GateResult | undefined;
  readonly cost: number | null;
  readonly reservations: readonly TakenPlace[];
  /** Only for a hold: its slot among the requests of the account that may be held at the same time. */
  readonly heldPlace?: Reservation;
  readonly retryAfterS: number | null;
  readonly approvals: readonly ApprovalRule[];
  /** ms since 1970. The plan's quota counted the request in the month of this time; null if the quota was not asked. */
  readonly countedAt: number | null;
};

export const ownGates = async (
  checks: Pick<Checks, "schema">,
  { isInScope, action, compiled }: Pick<AgentRequest, "isInScope" | "action" | "compiled">,
  payload: Pick<Question, "account" | "payload" | "body">,
): Promise<readonly GateResult[]> => {
  const { name } = action;
  if (!isInScope) return [denied("scope", "out-of-scope", `the agent's scope does not include ${name}`)];
  const scope = allowed("scope", `the agent's scope includes ${name}`);
  const { schema, cost } = compiled;
  const gates: GateResult[] = [scope];
  if (schema !== null) gates.push(await checks.schema({ ...payload, compiled }));
  if (cost !== null) gates.push(...costGate(cost, payload.payload(), "action"));
  return gates;
};

const afterSecond = ({ code }: GateResult): number | null => (code === "evaluation-rate" ? 1 : null);

const isApproval = ({ gate }: GateResult): boolean => gate === "approval";

type PolicyResult = { readonly policy: PolicyAsked; readonly checked: PolicyCheck };

const named = (gates: readonly GateResult[], { id, version }: PolicyAsked, isOne: boolean): readonly GateResult[] =>
  isOne ? gates : gates.map((gate) => ({ ...gate, policy: { id, version } }));

const groupOf = (
  { policy, checked }: PolicyResult,
  isOne: boolean,
  counted: readonly GateResult[] = [],
): GateGroup => ({
  gates: named(counted.length === 0 ? checked.gates : [...checked.gates, ...counted], policy, isOne),
  blocks: policy.definition.block_on_violation !== false,
});

const refOf = ({ id, version }: PolicyAsked): Verdict["policy"] => ({ id, version });

/** `policies` is left out if one policy alone applies to the whole request. */
const policiesIn = (asked: readonly PolicyAsked[]): Pick<Verdict, "policy" | "policies"> => {
  const [first] = asked;
  if (first === undefined) return { policy: null };
  if (asked.length === 1 && first.steps === undefined) return { policy: refOf(first) };
  const policies = asked.map(({ id, version, steps }) => defined({ id, version, steps }));
  return { policy: refOf(first), policies };
};

const listed = (
  own: readonly GateResult[],
  groups: readonly GateGroup[],
  quota: readonly GateResult[],
): readonly GateResult[] => {
  const gates = [...own];
  const approvals: GateResult[] = [];
  for (const group of groups) for (const gate of group.gates) (isApproval(gate) ? approvals : gates).push(gate);
  gates.push(...quota, ...approvals);
  return gates;
};

const rulesThatHold = (results: readonly PolicyResult[]): readonly ApprovalRule[] =>
  results.flatMap(({ policy: { definition }, checked }) =>
    definition.approval !== undefined && checked.gates.some((gate) => isApproval(gate) && gate.outcome === "hold")
      ? [definition.approval]
      : [],
  );

const limitsAsked = (
  { account, id: eventId, trace, run, countsForPlan, places, identical }: JudgementInput,
  results: readonly PolicyResult[],
  cost: number | null,
  { plan, timeZone }: { readonly plan: Plan; readonly timeZone: string },
): LedgerInput => ({
  account,
  timeZone,
  eventId,
  run,
  trace,
  plan: countsForPlan ? plan : null,
  policies: results.map(({ policy, checked: { cost: own, costMissing } }) => ({
    id: policy.id,
    definition: policy.definition,
    cost: own === null ? null : Math.max(own, cost ?? 0),
    costMissing,
    places: places(policy),
    identical: () => identical(policy),
  })),
});

type Passed = {
  readonly own: readonly GateResult[];
  readonly results: readonly PolicyResult[];
  readonly cost: number | null;
};

const concluded = ({ own, results, cost }: Passed, limits: LedgerVerdict, nowMs: number): Judgement => {
  const { gates: counted, quota, reservations, retryAfterS } = limits;
  const groups = results.map((result, index) => groupOf(result, results.length < 2, counted[index]));
  const all: readonly GateGroup[] = [{ gates: [...own, ...quota], blocks: true }, ...groups];
  const policies = policiesIn(results.map(({ policy }) => policy));
  const { decision, observed } = decideAll(all);
  const gates = listed(own, groups, quota);
  const verdict = { decision, ...(observed === true ? { observed } : {}), ...policies, gates };
  const approvals = rulesThatHold(results);
  return { verdict, deniedBy: deniedByAny(all), cost, reservations, retryAfterS, approvals, countedAt: nowMs };
};

/** A request that no gate has denied yet, whose limits are still to be asked. */
export type PassedGates = {
  readonly limits: LedgerInput;
  /** `nowMs`: when the limits were asked, in ms since 1970. */
  readonly conclude: (limits: LedgerVerdict, nowMs: number) => Judgement;
};

export type Gated = { readonly denied: Judgement } | PassedGates;

const NOTHING_COUNTED = { reservations: [], approvals: [], countedAt: null } as const;

/**
 * Cheap gates come first, so that their denials take no place in a ledger. Approvals come last, so that a request that
 * a ledger denies bothers no person. A policy that knows a cost reserves the highest one found for the request.
 */
export class Judge {
  readonly #deps: JudgeDeps;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  async judge(it: JudgementInput, places: Places): Promise<Judgement> {
    return this.count(await this.gates(it), places);
  }

  /** Asks all gates that take no places. */
  gates(it: JudgementInput): OrPromise<Gated> {
    return goOn(it.own(), (own) => this.#afterOwn(it, own));
  }

  async count(gated: Gated, places: Places): Promise<Judgement> {
    if ("denied" in gated) return gated.denied;
    const { ledgers, clock } = this.#deps;
    const nowMs = clock.now();
    const asking = ledgerGates(gated.limits, nowMs);
    return gated.conclude(await askLedgers(asking, places === "take" ? ledgers : ledgers.preview), nowMs);
  }

  #afterOwn(it: JudgementInput, own: readonly GateResult[]): OrPromise<Gated> {
    const ownDenial = deniedBy(own, true);
    if (ownDenial !== undefined) {
      const verdict = { decision: "deny", policy: null, gates: own } as const;
      const retryAfterS = afterSecond(ownDenial);
      return { denied: { ...NOTHING_COUNTED, verdict, deniedBy: ownDenial, cost: null, retryAfterS } };
    }
    const results = goOn(it.policies(), (uses) => this.#checks(it, uses, []));
    return goOn(results, (checked) => this.#afterChecks(it, own, checked));
  }

  #afterChecks(it: JudgementInput, own: readonly GateResult[], results: readonly PolicyResult[]): OrPromise<Gated> {
    const isOne = results.length < 2;
    const policies = policiesIn(results.map(({ policy }) => policy));
    const cost = it.cost(results.map(({ checked }) => checked));
    const groups = results.map((result) => groupOf(result, isOne));
    const denial = deniedByAny(groups);
    if (denial !== undefined) {
      const gates = [...own, ...groups.flatMap((group) => group.gates)];
      const verdict = { decision: "deny", ...policies, gates } as const;
      return { denied: { ...NOTHING_COUNTED, verdict, deniedBy: denial, cost, retryAfterS: afterSecond(denial) } };
    }
    return goOn(this.#deps.accountOf(it.account), (terms) => ({
      limits: limitsAsked(it, results, cost, terms),
      conclude: (limits, nowMs) => concluded({ own, results, cost }, limits, nowMs),
    }));
  }

  /** Checks one policy after another. `results` are those of the first policies. */
  #checks(
    it: JudgementInput,
    uses: readonly PolicyUse[],
    results: readonly PolicyResult[],
  ): OrPromise<readonly PolicyResult[]> {
    const use = uses[results.length];
    if (use === undefined) return results;
    const policy = this.#policyOf(it.account, use);
    const checked = goOn(policy, (asked) => goOn(it.check(asked), (check) => ({ policy: asked, checked: check })));
    return goOn(checked, (result) => this.#checks(it, uses, results.length === 0 ? [result] : [...results, result]));
  }

  #policyOf(account: string, { id, steps }: PolicyUse): OrPromise<PolicyAsked> {
    return goOn(this.#deps.aggregates.load(policyDecider, `policy-${id}`), ({ state }) => {
      if (state.phase !== "published" || state.account !== account) throw new Error(`${id} is no policy of ${account}`);
      const { version, definition } = state;
      const compiled = this.#deps.policies.get(account, id, version, definition);
      return steps === undefined ? { id, version, definition, compiled } : { id, steps, version, definition, compiled };
    });
  }
}
