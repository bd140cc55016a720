import { createHmac } from "node:crypto";
import type { Plan } from "../../domain/account/plans.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { costGate, costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import { decideAll, type GateGroup, refusedBy, refusedByAny } from "../../domain/gate/decide.ts";
import { type AppliedPolicy, allowed, denied, type GateResult, type Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { lengthPrefixed } from "../../infra/crypto/length-prefixed.ts";
import { type Checks, directChecks, type Question } from "../gates/checks.ts";
import type { CompiledPolicies, CompiledPolicy, PolicyCheck } from "../gates/compiled-policy.ts";
import type { AgentRequest, IncomingRequest } from "../gates/incoming-request.ts";
import type { Ledgers, Reservation } from "../ledgers/ledgers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Trace } from "../streams/envelope.ts";
import { ledgerGates, type TakenPlace } from "./ledger-gates.ts";

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

/** What makes an agent's request the same as another: hex, by the digest of its action. */
export const samenessOf = (key: Uint8Array, actionDigest: string): string =>
  createHmac("sha256", key)
    .update(lengthPrefixed([actionDigest]))
    .digest("hex");

const sameness = (
  key: Uint8Array,
  { asked, account, origin, eventType, endpointId, body }: IncomingRequest,
): string => {
  if (asked !== null) return samenessOf(key, asked.action.digest);
  const same = [account, origin.id, eventType, endpointId ?? ""];
  return createHmac("sha256", key).update(lengthPrefixed(same)).update(body).digest("hex");
};

/** The highest of those that are known; null when none is. */
const highest = (costs: readonly (number | null)[]): number | null => {
  const known = costs.filter((cost) => cost !== null);
  return known.length === 0 ? null : Math.max(...known);
};

/** What the action alone says of the cost, for a request without a policy. */
const costByAction = ({ asked, json }: IncomingRequest): number | null => {
  const ruled = asked?.compiled.cost ?? null;
  const cost = ruled === null ? null : costOf(ruled, json());
  return typeof cost !== "number" ? null : Math.max(cost, asked?.costMicro ?? 0);
};

/** What a policy says of an event, or an agent's request, as if it were the only one. */
const checkOne = (checks: Checks, it: IncomingRequest, policy: PolicyAsked): PolicyCheck | Promise<PolicyCheck> => {
  const { asked, json, account, body, isStrict } = it;
  const rule = asked?.compiled.cost ?? null;
  const found = rule === null ? null : costOf(rule, json());
  // Undefined: the action says nothing, so the policy's rule does.
  const costMicro = rule === null ? undefined : typeof found === "number" ? found : null;
  const atLeastMicro = asked?.costMicro ?? 0;
  const missing = costMicro === null ? { costMissing: whyCostUnknown(rule, json(), "action") } : {};
  const { id: originId, name, type } = it.origin;
  return checks.policy(policy, {
    ...{ account, isStrict, payload: json, body: () => body },
    headers: it.headers,
    source: asked === null ? { id: originId, name, type } : null,
    agent: asked === null ? null : { id: originId, name },
    action: asked?.action.name ?? null,
    ...(costMicro === undefined ? {} : { costMicro }),
    atLeastMicro,
    ...missing,
  });
};

/** A policy and all that it said, in the order in which its gates are listed. */
type Asking = {
  readonly policy: PolicyAsked;
  readonly checked: PolicyCheck;
  readonly counted: readonly GateResult[];
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

  const counting = async (
    it: Judging,
    asking: readonly Asking[],
    cost: number | null,
    nowMs: number,
    places: Places,
  ) => {
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
    const { gates: counted, quota, reservations, retryAfterS } = await counting(it, stated, cost, nowMs, places);
    const asking = stated.map((asked, index) => ({ ...asked, counted: counted[index] ?? [] }));
    const groups = asking.map((asked) => groupOf(asked, isOne));
    const all = [{ gates: [...own, ...quota], blocks: true }, ...groups];
    const { decision, ...more } = decideAll(all);
    const verdict = { decision, ...more, ...policies, gates: listed(own, groups, quota) };
    const approvals = rulesThatHold(asking);
    return { verdict, refusedBy: refusedByAny(all), cost, reservations, retryAfterS, approvals, countedAt: nowMs };
  };
};

/**
 * All policies that apply to a request: that of its agent or source, that of the action and that of the endpoint. The last
 * two apply whoever asks. A policy that is put on several of them is asked once.
 */
const policiesFor = async (
  aggregates: Pick<Aggregates, "load">,
  { account, policyId, asked, endpointId }: Pick<IncomingRequest, "account" | "policyId" | "asked" | "endpointId">,
): Promise<readonly PolicyUse[]> => {
  const ids = [policyId, asked?.compiled.policyId ?? null, await policyOfEndpoint(aggregates, account, endpointId)];
  return [...new Set(ids)].flatMap((id) => (id === null ? [] : [{ id }]));
};

/** The policy on an endpoint; null where there is none. */
export const policyOfEndpoint = async (
  aggregates: Pick<Aggregates, "load">,
  account: string,
  endpointId: string | null,
): Promise<string | null> => {
  if (endpointId === null) return null;
  const { state } = await aggregates.load(endpointDecider, `endpoint-${endpointId}`);
  return state.phase === "present" && state.account === account ? (state.settings.policy_id ?? null) : null;
};

/** The verdict on one request, whoever sent it. */
export const judgement = (deps: JudgeDeps): ((it: IncomingRequest, places?: Places) => Promise<Judged>) => {
  const judge = verdicts(deps);
  const { checks = directChecks } = deps;
  return (it, places = "take") => {
    const { asked, account, eventId: id, trace } = it;
    const judging: Judging = {
      id,
      account,
      trace,
      policies: () => policiesFor(deps.aggregates, it),
      countsForPlan: asked === null,
      run: asked?.run ?? null,
      places: () => 1,
      identical: () => new Map([[sameness(deps.digestKey, it), 1]]),
      own: async () =>
        asked === null ? [] : ownGates(checks, asked, { account, payload: it.json, body: () => it.body }),
      check: async (policy) => checkOne(checks, it, policy),
      cost: (checked) => (checked.length === 0 ? costByAction(it) : highest(checked.map(({ cost }) => cost))),
    };
    return judge(judging, places);
  };
};
