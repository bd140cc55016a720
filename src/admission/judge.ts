import { createHmac } from "node:crypto";
import type { Plan } from "../../domain/account/plans.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { costGate, costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import { decide, refusedBy } from "../../domain/gate/decide.ts";
import { allowed, denied, type GateResult, type Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports.ts";
import { lengthPrefixed } from "../../infra/crypto/length-prefixed.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Trace } from "../envelope.ts";
import { scanJson } from "../http/strict-json.ts";
import { type CompiledPolicies, type CompiledPolicy, type PolicyCheck, schemaGate } from "./compiled-policy.ts";
import type { Asked, Identified } from "./identified.ts";
import { ledgerGates, type TakenPlace } from "./ledger-gates.ts";
import type { Ledgers } from "./ledgers.ts";

export type JudgeDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly policies: CompiledPolicies;
  readonly accountOf: (account: string) => Promise<{ readonly plan: Plan; readonly timeZone: string }>;
  /** Ledgers of repetitions are named by a digest under this key: without it an erased payload could be guessed from a name. */
  readonly digestKey: Uint8Array;
};

export type PolicyAsked = {
  readonly id: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
  readonly compiled: CompiledPolicy;
};

/** What one verdict is asked for, an event or a bundle of them: whatever it consists of answers for all of it. */
export type Judging = {
  /** Names its places in ledgers. */
  readonly id: string;
  readonly account: string;
  readonly policyId: string | null;
  /** Only sources' events count for the plan. */
  readonly countsForPlan: boolean;
  /** Null for what belongs to no run. */
  readonly run: Run | null;
  readonly places: number;
  readonly identical: () => ReadonlyMap<string, number>;
  readonly trace: Trace;
  /** What an agent may ask for and how: no policy lifts these, and what they refuse is told nothing of the policy. */
  readonly own: () => Promise<readonly GateResult[]>;
  /** Null: it has no policy. */
  readonly check: (policy: PolicyAsked | null) => Promise<PolicyCheck>;
};

export type Judged = {
  readonly verdict: Verdict;
  /** Of a denial: the gate that the answer names. */
  readonly refusedBy: GateResult | undefined;
  readonly cost: number | null;
  readonly reservations: readonly TakenPlace[];
  readonly retryAfterS: number | null;
  /** The policy's rule, if it has one: of a hold. */
  readonly approval: ApprovalRule | null;
  /** When the plan was asked (ms since 1970), in whose month it counts; null where it was not. */
  readonly countedAt: number | null;
};

/** Deeper JSON than this is refused by a policy that reads the payload. */
const DEPTH_MAX = 64;

/** The payload as the gates read it may not be what the receiver reads. */
const ambiguous = (body: Buffer): boolean => {
  const scanned = scanJson(body.toString("utf8"), DEPTH_MAX);
  return scanned.duplicate !== undefined || scanned.tooDeep === true;
};

/** The scope of an agent, and the schema and the cost rule of an action. */
export const ownGates = (
  { isInScope, action, compiled }: Pick<Asked, "isInScope" | "action" | "compiled">,
  json: () => unknown,
): readonly GateResult[] => {
  const { name } = action;
  if (!isInScope) return [denied("scope", "out-of-scope", `the agent's scope does not include ${name}`)];
  const scope = allowed("scope", `the agent's scope includes ${name}`);
  const { schema, cost, work } = compiled;
  const gates: GateResult[] = [scope];
  if (schema !== null) {
    work.reset();
    gates.push(schemaGate(schema, json()));
  }
  if (cost !== null) gates.push(...costGate(cost, json(), "action"));
  return gates;
};

const isApproval = ({ gate }: GateResult): boolean => gate === "approval";

/** What makes an agent's request the same as another: hex, by the digest of its action. */
export const samenessOf = (key: Uint8Array, actionDigest: string): string =>
  createHmac("sha256", key)
    .update(lengthPrefixed([actionDigest]))
    .digest("hex");

const sameness = (key: Uint8Array, { asked, account, origin, eventType, endpointId, body }: Identified): string => {
  if (asked !== null) return samenessOf(key, asked.action.digest);
  const same = [account, origin.id, eventType, endpointId ?? ""];
  return createHmac("sha256", key).update(lengthPrefixed(same)).update(body).digest("hex");
};

/** What a policy says of an event, or an agent's request. */
const checkOne = (it: Identified, policy: PolicyAsked | null): PolicyCheck => {
  const { asked, json } = it;
  const rule = asked?.compiled.cost ?? null;
  const found = rule === null ? null : costOf(rule, json());
  // Undefined: the action says nothing, so the policy's rule does.
  const costMicro = rule === null ? undefined : typeof found === "number" ? found : null;
  const atLeastMicro = asked?.costMicro ?? 0;
  if (policy === null) {
    const cost = costMicro === undefined || costMicro === null ? null : Math.max(costMicro, atLeastMicro);
    return { gates: [], cost };
  }
  const { compiled } = policy;
  const missing = costMicro === null ? { costMissing: whyCostUnknown(rule, json(), "action") } : {};
  const { id: originId, name, type } = it.origin;
  return compiled.check({
    payload: compiled.readsPayload ? json() : undefined,
    ambiguous: compiled.readsPayload && !it.isStrict && ambiguous(it.body),
    headers: it.headers,
    source: asked === null ? { id: originId, name, type } : null,
    agent: asked === null ? null : { id: originId, name },
    action: asked?.action.name ?? null,
    ...(costMicro === undefined ? {} : { costMicro }),
    atLeastMicro,
    ...missing,
  });
};

/**
 * Asks every gate for one verdict: cheap gates first, then those that count, and people last. What the first refuse takes
 * no place in a ledger, and what the ledgers refuse wakes nobody.
 */
export const verdicts = (deps: JudgeDeps): ((it: Judging) => Promise<Judged>) => {
  /** The policy as it is now. */
  const policyOf = async ({ policyId: id, account }: Judging): Promise<PolicyAsked | null> => {
    if (id === null) return null;
    const { state } = await deps.aggregates.load(policyDecider, `policy-${id}`);
    if (state.phase !== "published" || state.account !== account) throw new Error(`${id} is no policy of ${account}`);
    const { version, definition } = state;
    return { id, version, definition, compiled: deps.policies.get(id, version, definition) };
  };

  return async (it) => {
    const { account, id, trace, run, places, identical } = it;
    const own = await it.own();
    const ownRefusal = refusedBy(own, true);
    const denial = { decision: "deny", policy: null, gates: own } as const;
    const nothing = { cost: null, reservations: [], retryAfterS: null, approval: null, countedAt: null } as const;
    if (ownRefusal !== undefined) return { verdict: denial, refusedBy: ownRefusal, ...nothing };

    const policy = await policyOf(it);
    const { gates: stated, cost, costMissing } = await it.check(policy);
    const blocks = policy?.definition.block_on_violation !== false;
    const ref = policy === null ? null : { id: policy.id, version: policy.version };
    const stateless = own.length === 0 ? stated : [...own, ...stated];
    const early = decide(stateless, blocks);
    if (early.decision === "deny") {
      const verdict = { ...early, policy: ref, gates: stateless };
      return { ...nothing, verdict, refusedBy: refusedBy(stateless, blocks), cost };
    }
    const nowMs = deps.clock.now();
    const { plan, timeZone } = await deps.accountOf(account);
    const counted = await ledgerGates(deps.ledgers, {
      account,
      timeZone,
      eventId: id,
      policy,
      cost,
      places,
      identical,
      run,
      nowMs,
      trace,
      plan: it.countsForPlan ? plan : null,
      ...(costMissing === undefined ? {} : { costMissing }),
    });
    const { reservations, retryAfterS, gates: counting } = counted;
    const approval = policy?.definition.approval ?? null;
    const gates =
      approval === null
        ? [...stateless, ...counting]
        : [...stateless.filter((gate) => !isApproval(gate)), ...counting, ...stateless.filter(isApproval)];
    const { decision, ...more } = decide(gates, blocks);
    const verdict = { decision, ...more, policy: ref, gates };
    const refused = refusedBy(gates, blocks);
    return { verdict, refusedBy: refused, cost, reservations, retryAfterS, approval, countedAt: nowMs };
  };
};

/** The verdict on one request, whoever sent it. */
export const judgement = (deps: JudgeDeps): ((it: Identified) => Promise<Judged>) => {
  const judge = verdicts(deps);
  return (it) => {
    const { asked, account, eventId: id, policyId, trace } = it;
    return judge({
      id,
      account,
      policyId,
      trace,
      countsForPlan: asked === null,
      run: asked?.run ?? null,
      places: 1,
      identical: () => new Map([[sameness(deps.digestKey, it), 1]]),
      own: async () => (asked === null ? [] : ownGates(asked, it.json)),
      check: async (policy) => checkOne(it, policy),
    });
  };
};
