import type { Plan } from "../../domain/account/plans.ts";
import { defined } from "../../domain/defined.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { costGate } from "../../domain/gate/cost.ts";
import { decideAll, deniedBy, deniedByAny, type GateGroup } from "../../domain/gate/decide.ts";
import { type AppliedPolicy, allowed, denied, type GateResult, type Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Checks, Question } from "../gates/checks.ts";
import type { CompiledPolicies, CompiledPolicy } from "../gates/compiled-policy.ts";
import type { AgentRequest } from "../gates/incoming-request.ts";
import type { PolicyCheck } from "../gates/policy-gates.ts";
import type { Ledgers, Reservation } from "../ledgers/ledgers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Trace } from "../streams/envelope.ts";
import { ledgerGates } from "./ledger-gates.ts";
import type { TakenPlace } from "./limit-results.ts";

export type JudgeDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly policies: CompiledPolicies;
  readonly checks?: Checks;
  readonly accountOf: (account: string) => Promise<{ readonly plan: Plan; readonly timeZone: string }>;
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
  readonly policies: () => Promise<readonly PolicyUse[]>;
  readonly countsForPlan: boolean;
  readonly run: Run | null;
  readonly places: (policy: PolicyUse) => number;
  readonly identical: (policy: PolicyUse) => ReadonlyMap<string, number>;
  readonly trace: Trace;
  /** The gates of the agent and the action. They come first, so that their denial reveals nothing of a policy. */
  readonly own: () => Promise<readonly GateResult[]>;
  readonly check: (policy: PolicyAsked) => Promise<PolicyCheck>;
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

type PolicyResult = {
  readonly policy: PolicyAsked;
  readonly checked: PolicyCheck;
  readonly counted: readonly GateResult[];
};

type LimitsQuestion = {
  readonly it: JudgementInput;
  readonly results: readonly PolicyResult[];
  readonly cost: number | null;
  readonly nowMs: number;
  readonly places: Places;
};

const named = (gates: readonly GateResult[], { id, version }: PolicyAsked, isOne: boolean): readonly GateResult[] =>
  isOne ? gates : gates.map((gate) => ({ ...gate, policy: { id, version } }));

const groupOf = ({ policy, checked, counted }: PolicyResult, isOne: boolean): GateGroup => ({
  gates: named([...checked.gates, ...counted], policy, isOne),
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
  const gates = groups.flatMap((group) => group.gates);
  return [...own, ...gates.filter((gate) => !isApproval(gate)), ...quota, ...gates.filter(isApproval)];
};

const rulesThatHold = (results: readonly PolicyResult[]): readonly ApprovalRule[] =>
  results.flatMap(({ policy: { definition }, checked }) =>
    definition.approval !== undefined && checked.gates.some((gate) => isApproval(gate) && gate.outcome === "hold")
      ? [definition.approval]
      : [],
  );

/**
 * Cheap gates come first, so that their denials take no place in a ledger. Approvals come last, so that a request that
 * a ledger denies bothers no person. A policy that knows a cost reserves the highest one found for the request.
 */
export const verdicts = (deps: JudgeDeps): ((it: JudgementInput, places: Places) => Promise<Judgement>) => {
  const policyOf = async (account: string, use: PolicyUse): Promise<PolicyAsked> => {
    const { id } = use;
    const { state } = await deps.aggregates.load(policyDecider, `policy-${id}`);
    if (state.phase !== "published" || state.account !== account) throw new Error(`${id} is no policy of ${account}`);
    const { version, definition } = state;
    return { ...use, version, definition, compiled: deps.policies.get(account, id, version, definition) };
  };

  const checks = async (it: JudgementInput): Promise<readonly PolicyResult[]> => {
    const results: PolicyResult[] = [];
    for (const use of await it.policies()) {
      const policy = await policyOf(it.account, use);
      results.push({ policy, checked: await it.check(policy), counted: [] });
    }
    return results;
  };

  const counting = async ({ it, results, cost, nowMs, places }: LimitsQuestion) => {
    const { account, id: eventId, trace, run, countsForPlan, places: placesOf, identical } = it;
    const { plan, timeZone } = await deps.accountOf(account);
    return ledgerGates(places === "take" ? deps.ledgers : deps.ledgers.preview, {
      ...{ account, timeZone, eventId, run, nowMs, trace },
      plan: countsForPlan ? plan : null,
      policies: results.map(({ policy, checked: { cost: own, costMissing } }) => ({
        id: policy.id,
        definition: policy.definition,
        cost: own === null ? null : Math.max(own, cost ?? 0),
        costMissing,
        places: placesOf(policy),
        identical: () => identical(policy),
      })),
    });
  };

  return async (it, places) => {
    const own = await it.own();
    const ownDenial = deniedBy(own, true);
    const denial = { decision: "deny", policy: null, gates: own } as const;
    const nothing = { cost: null, reservations: [], retryAfterS: null, approvals: [], countedAt: null } as const;
    if (ownDenial !== undefined) {
      return { ...nothing, verdict: denial, deniedBy: ownDenial, retryAfterS: afterSecond(ownDenial) };
    }

    const early = await checks(it);
    const isOne = early.length < 2;
    const policies = policiesIn(early.map(({ policy }) => policy));
    const cost = it.cost(early.map(({ checked }) => checked));
    const earlyGroups = early.map((result) => groupOf(result, isOne));
    const earlyDenial = deniedByAny(earlyGroups);
    if (earlyDenial !== undefined) {
      const gates = [...own, ...earlyGroups.flatMap((group) => group.gates)];
      const verdict = { decision: "deny", ...policies, gates } as const;
      return { ...nothing, verdict, deniedBy: earlyDenial, cost, retryAfterS: afterSecond(earlyDenial) };
    }
    const nowMs = deps.clock.now();
    const {
      gates: counted,
      quota,
      reservations,
      retryAfterS,
    } = await counting({ it, results: early, cost, nowMs, places });
    const results = early.map((asked, index) => ({ ...asked, counted: counted[index] ?? [] }));
    const groups = results.map((result) => groupOf(result, isOne));
    const all = [{ gates: [...own, ...quota], blocks: true }, ...groups];
    const { decision, ...more } = decideAll(all);
    const verdict = { decision, ...more, ...policies, gates: listed(own, groups, quota) };
    const approvals = rulesThatHold(results);
    return { verdict, deniedBy: deniedByAny(all), cost, reservations, retryAfterS, approvals, countedAt: nowMs };
  };
};
