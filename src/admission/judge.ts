import { createHmac } from "node:crypto";
import type { Plan } from "../../domain/account/plans.ts";
import { costOf } from "../../domain/gate/cost.ts";
import { decide, refusedBy } from "../../domain/gate/decide.ts";
import { allowed, denied, type GateResult, type Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports.ts";
import { lengthPrefixed } from "../../infra/crypto/length-prefixed.ts";
import type { Aggregates } from "../aggregates.ts";
import { scanJson } from "../http/strict-json.ts";
import { type CompiledPolicies, schemaGate } from "./compiled-policy.ts";
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

type Checked = {
  readonly policy: { readonly id: string; readonly version: number; readonly definition: PolicyDefinition } | null;
  readonly gates: readonly GateResult[];
  /** Micro-euros. */
  readonly cost: number | null;
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
};

/** Deeper JSON than this is refused by a policy that reads the payload. */
const DEPTH_MAX = 64;

/** The payload as the gates read it may not be what the receiver reads. */
const ambiguous = (body: Buffer): boolean => {
  const scanned = scanJson(body.toString("utf8"), DEPTH_MAX);
  return scanned.duplicate !== undefined || scanned.tooDeep === true;
};

/** What an agent may ask for and how: no policy lifts these. */
const ownGates = ({ isInScope, action, compiled }: Asked, json: () => unknown): readonly GateResult[] => {
  const { name } = action;
  if (!isInScope) return [denied("scope", "out-of-scope", `the agent's scope does not include ${name}`)];
  const scope = allowed("scope", `the agent's scope includes ${name}`);
  if (compiled.schema === null) return [scope];
  compiled.work.reset();
  return [scope, schemaGate(compiled.schema, json())];
};

const isApproval = ({ gate }: GateResult): boolean => gate === "approval";

const sameness = (key: Uint8Array, { asked, account, origin, eventType, endpointId, body }: Identified): string => {
  const same = asked === null ? [account, origin.id, eventType, endpointId ?? ""] : [asked.action.digest];
  const hmac = createHmac("sha256", key).update(lengthPrefixed(same));
  return (asked === null ? hmac.update(body) : hmac).digest("hex");
};

/** Asks every gate about one request. */
export const judgement = (deps: JudgeDeps): ((it: Identified) => Promise<Judged>) => {
  /** The policy as it is now, and what it says of the request without counting anything. */
  const check = async (it: Identified): Promise<Checked> => {
    const { policyId: id, account, asked, json } = it;
    const ruled = asked?.compiled.cost ?? null;
    // Undefined: the action says nothing, so the policy's rule does.
    const costMicro = ruled === null ? undefined : costOf(ruled, json());
    const atLeastMicro = asked?.costMicro ?? 0;
    if (id === null) {
      const cost = costMicro === undefined || costMicro === null ? null : Math.max(costMicro, atLeastMicro);
      return { policy: null, gates: [], cost };
    }
    const { state } = await deps.aggregates.load(policyDecider, `policy-${id}`);
    if (state.phase !== "published" || state.account !== account) throw new Error(`${id} is no policy of ${account}`);
    const { version, definition } = state;
    const compiled = deps.policies.get(id, version, definition);
    const { id: originId, name, type } = it.origin;
    const { gates, cost } = compiled.check({
      payload: compiled.readsPayload ? json() : undefined,
      ambiguous: compiled.readsPayload && !it.isStrict && ambiguous(it.body),
      headers: it.headers,
      source: asked === null ? { id: originId, name, type } : null,
      agent: asked === null ? null : { id: originId, name },
      action: asked?.action.name ?? null,
      ...(costMicro === undefined ? {} : { costMicro }),
      atLeastMicro,
    });
    return { policy: { id, version, definition }, gates, cost };
  };

  /** Cheap gates first, then those that count, and people last: what the first refuse takes no place in a ledger, and what
   * the ledgers refuse wakes nobody. */
  return async (it) => {
    const { asked, account, eventId, trace } = it;
    const own = asked === null ? [] : ownGates(asked, it.json);
    const ownRefusal = refusedBy(own, true);
    const denial = { decision: "deny", policy: null, gates: own } as const;
    const nothing = { cost: null, reservations: [], retryAfterS: null, approval: null } as const;
    if (ownRefusal !== undefined) return { verdict: denial, refusedBy: ownRefusal, ...nothing };

    const { policy, gates: stated, cost } = await check(it);
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
    const {
      reservations,
      retryAfterS,
      gates: counting,
    } = await ledgerGates(deps.ledgers, {
      account,
      // Only sources' events count for the plan.
      plan: asked === null ? plan : null,
      timeZone,
      eventId,
      policy,
      cost,
      actionCost: asked !== null && asked.compiled.cost !== null,
      digest: () => sameness(deps.digestKey, it),
      run: asked?.run ?? null,
      nowMs,
      trace,
    });
    const approval = policy?.definition.approval ?? null;
    const gates =
      approval === null
        ? [...stateless, ...counting]
        : [...stateless.filter((gate) => !isApproval(gate)), ...counting, ...stateless.filter(isApproval)];
    const verdict = { ...decide(gates, blocks), policy: ref, gates };
    return { verdict, refusedBy: refusedBy(gates, blocks), cost, reservations, retryAfterS, approval };
  };
};
