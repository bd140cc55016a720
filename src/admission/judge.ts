import type { Plan } from "../../domain/account/plans.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { costGate } from "../../domain/gate/cost.ts";
import { decideAll, type GateGroup, refusedBy, refusedByAny } from "../../domain/gate/decide.ts";
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
import type { TakenPlace } from "./counted.ts";
import { ledgerGates } from "./ledger-gates.ts";

export type JudgeDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly policies: CompiledPolicies;
  /** Left out: all checks are made on this thread. */
  readonly checks?: Checks;
  readonly accountOf: (account: string) => Promise<{ readonly plan: Plan; readonly timeZone: string }>;
  /** Ledgers of repetitions are named by a digest under this key: without it an erased payload could be guessed from a name. */
  readonly digestKey: Uint8Array;
};

/** Names a policy that applies. `steps`: the indexes of a bundle's steps that it applies to; left out: the whole request. */
export type PolicyUse = Pick<AppliedPolicy, "id" | "steps">;

export type PolicyAsked = AppliedPolicy & {
  readonly definition: PolicyDefinition;
  readonly compiled: CompiledPolicy;
};

/** What one verdict is asked for, an event or a bundle of them: whatever it consists of answers for all of it. */
export type Judging = {
  /** Names its places in ledgers. */
  readonly id: string;
  readonly account: string;
  /** Each policy once. All are asked, and the strictest decides. */
  readonly policies: () => Promise<readonly PolicyUse[]>;
  /** Only sources' events count for the plan. */
  readonly countsForPlan: boolean;
  /** Null for what belongs to no run. */
  readonly run: Run | null;
  readonly places: (policy: PolicyUse) => number;
  readonly identical: (policy: PolicyUse) => ReadonlyMap<string, number>;
  readonly trace: Trace;
  /** What an agent may ask for and how: no policy lifts these, and what they refuse is told nothing of the policy. */
  readonly own: () => Promise<readonly GateResult[]>;
  readonly check: (policy: PolicyAsked) => Promise<PolicyCheck>;
  /** What the whole request costs, in micro-euros; null where that is not known. `checked`: what the policies said. */
  readonly cost: (checked: readonly PolicyCheck[]) => number | null;
};

/** Whether the places of an allowed request are taken, or it is only asked whether they could be. */
export type Places = "take" | "ask";

export type Judged = {
  readonly verdict: Verdict;
  /** Of a denial: the gate that the answer names. */
  readonly refusedBy: GateResult | undefined;
  readonly cost: number | null;
  readonly reservations: readonly TakenPlace[];
  /** Of a hold: its place among the account's held requests. */
  readonly heldPlace?: Reservation;
  readonly retryAfterS: number | null;
  /** Of a hold: the rules of all policies that ask for people. */
  readonly approvals: readonly ApprovalRule[];
  /** When the plan was asked (ms since 1970), in whose month it counts; null where it was not. */
  readonly countedAt: number | null;
};

/** The scope of an agent, and the schema and the cost rule of an action. */
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

/** The budget for checks is one of a second. */
const afterSecond = ({ code }: GateResult): number | null => (code === "evaluation-rate" ? 1 : null);

const isApproval = ({ gate }: GateResult): boolean => gate === "approval";

/** A policy and all that it said, in the order in which its gates are listed. */
type Asking = {
  readonly policy: PolicyAsked;
  readonly checked: PolicyCheck;
  readonly counted: readonly GateResult[];
};

type Counting = {
  readonly it: Judging;
  readonly asking: readonly Asking[];
  readonly cost: number | null;
  readonly nowMs: number;
  readonly places: Places;
};

/** Where several policies were asked, each gate says whose it is. */
const named = (gates: readonly GateResult[], { id, version }: PolicyAsked, isOne: boolean): readonly GateResult[] =>
  isOne ? gates : gates.map((gate) => ({ ...gate, policy: { id, version } }));

const groupOf = ({ policy, checked, counted }: Asking, isOne: boolean): GateGroup => ({
  gates: named([...checked.gates, ...counted], policy, isOne),
  blocks: policy.definition.block_on_violation !== false,
});

const refOf = ({ id, version }: PolicyAsked): Verdict["policy"] => ({ id, version });

/** Which policies a verdict rests on. One is named alone, unless it applies to some steps only. */
const policiesIn = (asked: readonly PolicyAsked[]): Pick<Verdict, "policy" | "policies"> => {
  const [first] = asked;
  if (first === undefined) return { policy: null };
  if (asked.length === 1 && first.steps === undefined) return { policy: refOf(first) };
  const policies = asked.map(({ id, version, steps }) => ({ id, version, ...(steps === undefined ? {} : { steps }) }));
  return { policy: refOf(first), policies };
};

/** Cheap gates first, then those that count, and people last. */
const listed = (
  own: readonly GateResult[],
  groups: readonly GateGroup[],
  quota: readonly GateResult[],
): readonly GateResult[] => {
  const gates = groups.flatMap((group) => group.gates);
  return [...own, ...gates.filter((gate) => !isApproval(gate)), ...quota, ...gates.filter(isApproval)];
};

const rulesThatHold = (asking: readonly Asking[]): readonly ApprovalRule[] =>
  asking.flatMap(({ policy: { definition }, checked }) =>
    definition.approval !== undefined && checked.gates.some((gate) => isApproval(gate) && gate.outcome === "hold")
      ? [definition.approval]
      : [],
  );

/**
 * Asks every gate for one verdict: cheap gates first, then those that count, and people last. What the first refuse takes
 * no place in a ledger, and what the ledgers refuse wakes nobody. Each policy is asked as if it were the only one; all of
 * them reserve what the whole request costs, by the policy that makes it cost most.
 */
export const verdicts = (deps: JudgeDeps): ((it: Judging, places: Places) => Promise<Judged>) => {
  /** The policy as it is at this moment. */
  const policyOf = async (account: string, use: PolicyUse): Promise<PolicyAsked> => {
    const { id } = use;
    const { state } = await deps.aggregates.load(policyDecider, `policy-${id}`);
    if (state.phase !== "published" || state.account !== account) throw new Error(`${id} is no policy of ${account}`);
    const { version, definition } = state;
    return { ...use, version, definition, compiled: deps.policies.get(account, id, version, definition) };
  };

  const checks = async (it: Judging): Promise<readonly Asking[]> => {
    const asking: Asking[] = [];
    for (const use of await it.policies()) {
      const policy = await policyOf(it.account, use);
      asking.push({ policy, checked: await it.check(policy), counted: [] });
    }
    return asking;
  };

  const counting = async ({ it, asking, cost, nowMs, places }: Counting) => {
    const { account, id: eventId, trace, run, countsForPlan, places: placesOf, identical } = it;
    const { plan, timeZone } = await deps.accountOf(account);
    return ledgerGates(places === "take" ? deps.ledgers : deps.ledgers.asking, {
      ...{ account, timeZone, eventId, run, nowMs, trace },
      plan: countsForPlan ? plan : null,
      policies: asking.map(({ policy, checked: { cost: own, costMissing } }) => ({
        id: policy.id,
        definition: policy.definition,
        cost: own === null ? null : Math.max(own, cost ?? 0),
        ...(costMissing === undefined ? {} : { costMissing }),
        places: placesOf(policy),
        identical: () => identical(policy),
      })),
    });
  };

  return async (it, places) => {
    const own = await it.own();
    const ownRefusal = refusedBy(own, true);
    const denial = { decision: "deny", policy: null, gates: own } as const;
    const nothing = { cost: null, reservations: [], retryAfterS: null, approvals: [], countedAt: null } as const;
    if (ownRefusal !== undefined) {
      return { ...nothing, verdict: denial, refusedBy: ownRefusal, retryAfterS: afterSecond(ownRefusal) };
    }

    const stated = await checks(it);
    const isOne = stated.length < 2;
    const policies = policiesIn(stated.map(({ policy }) => policy));
    const cost = it.cost(stated.map(({ checked }) => checked));
    const early = stated.map((asking) => groupOf(asking, isOne));
    const refusedEarly = refusedByAny(early);
    if (refusedEarly !== undefined) {
      const gates = [...own, ...early.flatMap((group) => group.gates)];
      const verdict = { decision: "deny", ...policies, gates } as const;
      return { ...nothing, verdict, refusedBy: refusedEarly, cost, retryAfterS: afterSecond(refusedEarly) };
    }
    const nowMs = deps.clock.now();
    const {
      gates: counted,
      quota,
      reservations,
      retryAfterS,
    } = await counting({ it, asking: stated, cost, nowMs, places });
    const asking = stated.map((asked, index) => ({ ...asked, counted: counted[index] ?? [] }));
    const groups = asking.map((asked) => groupOf(asked, isOne));
    const all = [{ gates: [...own, ...quota], blocks: true }, ...groups];
    const { decision, ...more } = decideAll(all);
    const verdict = { decision, ...more, ...policies, gates: listed(own, groups, quota) };
    const approvals = rulesThatHold(asking);
    return { verdict, refusedBy: refusedByAny(all), cost, reservations, retryAfterS, approvals, countedAt: nowMs };
  };
};
