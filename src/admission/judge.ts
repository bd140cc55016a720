import type { Plan } from "../../domain/account/plans.ts";
import { decide, refusedBy } from "../../domain/gate/decide.ts";
import type { GateResult, Verdict } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports.ts";
import type { Aggregates } from "../aggregates.ts";
import { scanJson } from "../http/strict-json.ts";
import type { CompiledPolicies } from "./compiled-policy.ts";
import { ledgerGates } from "./ledger-gates.ts";
import type { Ledgers, Reservation } from "./ledgers.ts";
import type { Identified } from "./webhook.ts";

export type JudgeDeps = {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly policies: CompiledPolicies;
  readonly accountOf: (account: string) => Promise<{ readonly plan: Plan; readonly timeZone: string }>;
};

type Checked = {
  readonly policy: { readonly id: string; readonly version: number; readonly definition: PolicyDefinition } | null;
  readonly gates: readonly GateResult[];
  readonly cost: number | null;
  /** False: violations are only observed. */
  readonly blocks: boolean;
};

export type Judged = {
  readonly verdict: Verdict;
  /** Of a denial: the gate that the answer names. */
  readonly refusedBy: GateResult | undefined;
  readonly cost: number | null;
  readonly reservations: readonly Reservation[];
  readonly retryAfterS: number | null;
};

/** Deeper JSON than this is refused by a policy that reads the payload. */
const DEPTH_MAX = 64;

/** The payload as the gates read it may not be what the receiver reads. */
const ambiguous = (body: Buffer): boolean => {
  const scanned = scanJson(body.toString("utf8"), DEPTH_MAX);
  return scanned.duplicate !== undefined || scanned.tooDeep === true;
};

/** Asks every gate about one event. */
export const judgement = (deps: JudgeDeps): ((it: Identified) => Promise<Judged>) => {
  /** The policy of the source as it is now, and what it says of the event without counting anything. */
  const check = async ({ source, webhook, json }: Identified): Promise<Checked> => {
    const id = source.settings.policy_id;
    if (id === null) return { policy: null, gates: [], cost: null, blocks: true };
    const { state } = await deps.aggregates.load(policyDecider, `policy-${id}`);
    if (state.phase !== "published" || state.account !== source.account) {
      throw new Error(`${id} is no policy of the source's account`);
    }
    const { version, definition } = state;
    const compiled = deps.policies.get(id, version, definition);
    const { gates, cost } = compiled.check({
      payload: compiled.readsPayload ? json() : undefined,
      ambiguous: compiled.readsPayload && ambiguous(webhook.body),
      headers: webhook.headers,
      source: { id: webhook.sourceId, name: source.settings.name, type: source.type },
      agent: null,
      action: null,
    });
    return { policy: { id, version, definition }, gates, cost, blocks: definition.block_on_violation !== false };
  };

  /** Cheap gates first, then those that count: what the first refuse takes no place in a ledger. */
  const judge = async (it: Identified): Promise<Judged> => {
    const { policy, gates, cost, blocks } = await check(it);
    const ref = policy === null ? null : { id: policy.id, version: policy.version };
    const early = decide(gates, blocks);
    if (early.decision === "deny") {
      const verdict = { ...early, policy: ref, gates };
      return { verdict, refusedBy: refusedBy(gates, blocks), cost, reservations: [], retryAfterS: null };
    }
    const { webhook, source, eventId } = it;
    const { account } = source;
    const { trace } = webhook;
    const nowMs = deps.clock.now();
    const input = { account, ...(await deps.accountOf(account)), eventId, policy, cost, nowMs, trace };
    const { reservations, retryAfterS, gates: counting } = await ledgerGates(deps.ledgers, input);
    const all = [...gates, ...counting];
    const verdict = { ...decide(all, blocks), policy: ref, gates: all };
    return { verdict, refusedBy: refusedBy(all, blocks), cost, reservations, retryAfterS };
  };

  return judge;
};
