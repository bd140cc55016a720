import type { Plan } from "../../domain/account/plans.ts";
import { monthEnd, monthOf, untilMidnight } from "../../domain/calendar.ts";
import { COST_UNKNOWN, whyCostUnknown } from "../../domain/gate/cost.ts";
import { allowed, denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Answer } from "../../domain/ledger/batch.ts";
import type { Limits } from "../../domain/ledger/commands.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Reservation } from "../ledgers/ledgers.ts";
import { type Asking, answered, giveBack } from "./ask-ledgers.ts";
import {
  asksFor,
  contested,
  exceeds,
  type LedgerInput,
  type LimitedPolicy,
  type LimitResult,
  NO_LIMITS,
  overLimit,
  seconds,
  type TakenPlace,
  TOO_MANY_STEPS,
} from "./limit-results.ts";
import { loopGate } from "./loop-gate.ts";

const MICRO = 1_000_000;

export type LedgerVerdict = {
  /** The gates of each policy, in the order of the input; empty for a policy that was not asked after a denial. */
  readonly gates: readonly (readonly GateResult[])[];
  readonly quota: readonly GateResult[];
  readonly reservations: readonly TakenPlace[];
  /** Seconds; null if no gate denied, or if a repeat is denied too, however late it comes. */
  readonly retryAfterS: number | null;
};

const euros = (micro: number): string => (micro / MICRO).toFixed(2);

const limitsOf = ({ budget_eur_day: euros, rate_per_minute: rate }: PolicyDefinition): Limits => ({
  budget: euros === undefined ? undefined : Math.round(euros * MICRO),
  rate,
});

const lasting = ({ stream, account, event, answer }: Reservation): TakenPlace => ({
  lasts: true,
  stream,
  account,
  event,
  answer,
});

const rateGate = ({ rate }: Answer, places: number): GateResult[] => {
  if (rate === undefined) return [];
  const detail = `${rate.used} of ${rate.limit} in the last minute${asksFor(places)}`;
  if (!rate.over) return [allowed("rate", detail)];
  if (exceeds(places, rate.limit)) return [denied("rate", TOO_MANY_STEPS, detail)];
  const wait = `the next is possible in ${seconds(rate.retryAfterMs)} s`;
  return [denied("rate", "rate-reached", `${detail}; ${wait}`)];
};

const budgetGate = ({ budget }: Answer, cost: number): GateResult[] => {
  if (budget === undefined) return [];
  const detail = `${euros(budget.used)} of ${euros(budget.limit)} EUR used today, this one costs ${euros(cost)} EUR`;
  return [budget.over ? denied("budget", "budget-spent", detail) : allowed("budget", detail)];
};

const costUnknown = (missing: string): GateResult =>
  denied("budget", COST_UNKNOWN, `What this event costs cannot be determined: ${missing}`);

function* dayGates(input: LedgerInput, policy: LimitedPolicy, nowMs: number): Asking<LimitResult> {
  const { account, eventId, trace, timeZone } = input;
  const { places = 1 } = policy;
  const limits = limitsOf(policy.definition);
  if (limits.budget !== undefined && policy.cost === null) {
    const missing = policy.costMissing ?? whyCostUnknown(null, null, "policy");
    return overLimit([costUnknown(missing)], untilMidnight(timeZone, nowMs));
  }
  if (limits.budget === undefined && limits.rate === undefined) return NO_LIMITS;
  const cost = policy.cost ?? 0;
  const day = { account, id: policy.id, timeZone };
  const request = { policy: day, event: eventId, cost, limits, trace, places };
  const reserved = answered(yield { ask: "day", request });
  const { answer } = reserved;
  if (answer.isContested === true) return contested("rate");
  const gates = [...rateGate(answer, places), ...budgetGate(answer, cost)];
  if (answer.granted) return { gates, taken: [lasting(reserved)], denied: false, retryAfterS: null };
  if (answer.rate !== undefined && exceeds(places, answer.rate.limit)) return overLimit(gates, null);
  const wait = answer.budget?.over === true ? untilMidnight(timeZone, nowMs) : (answer.rate?.retryAfterMs ?? 0);
  return overLimit(gates, wait);
}

function* quotaGate({ account, eventId, trace }: LedgerInput, plan: Plan, nowMs: number): Asking<LimitResult> {
  const month = monthOf(nowMs);
  const limit = { count: plan.eventsPerMonth };
  const request = { stream: `ledger-${account}-${month}`, account, event: eventId, limits: limit, trace };
  const reserved = answered(yield { ask: "places", request });
  const used = reserved.answer.count?.used ?? 0;
  if (reserved.answer.granted) {
    const detail = `${used} of ${plan.eventsPerMonth} events of the ${plan.name} plan used in ${month}`;
    return { gates: [allowed("quota", detail)], taken: [lasting(reserved)], denied: false, retryAfterS: null };
  }
  const detail = `All ${plan.eventsPerMonth} events of the ${plan.name} plan are used in ${month}`;
  return overLimit([denied("quota", "quota-reached", detail)], monthEnd(nowMs) - nowMs);
}

const inOrder = (gates: readonly GateResult[]): readonly GateResult[] => {
  const at = (gate: GateResult): number => (gate.gate === "rate" ? 0 : gate.gate === "loop" ? 1 : 2);
  return gates.toSorted((a, b) => at(a) - at(b));
};

/** All requests ask policies in one order: of two that compete for the last places, one then gets all it needs. */
const byId = (policies: readonly LimitedPolicy[]): readonly LimitedPolicy[] =>
  policies.length < 2 ? policies : policies.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/**
 * A denial gives back the places in all ledgers. A policy that only observes takes no place in a ledger of its own that
 * would have denied, but the other policies count the request, because it is admitted.
 */
export function* ledgerGates(input: LedgerInput, nowMs: number): Asking<LedgerVerdict> {
  const { trace, policies } = input;
  const gatesByPolicy = new Map<LimitedPolicy, readonly GateResult[]>();
  const taken: TakenPlace[] = [];
  const verdict = (quota: readonly GateResult[], retryAfterS: number | null = null): LedgerVerdict => ({
    gates: policies.map((policy) => gatesByPolicy.get(policy) ?? []),
    quota,
    reservations: taken,
    retryAfterS,
  });
  for (const policy of byId(policies)) {
    const blocks = policy.definition.block_on_violation !== false;
    for (const ask of policy.definition.loop === undefined ? [dayGates] : [dayGates, loopGate]) {
      const counted = yield* ask(input, policy, nowMs);
      const earlier = gatesByPolicy.get(policy);
      gatesByPolicy.set(policy, earlier === undefined ? counted.gates : inOrder([...earlier, ...counted.gates]));
      taken.push(...counted.taken);
      if (!counted.denied || !blocks) continue;
      yield* giveBack(taken.splice(0), trace);
      return verdict([], counted.retryAfterS);
    }
  }
  const { plan } = input;
  const quota = plan?.hardStop === true ? yield* quotaGate(input, plan, nowMs) : NO_LIMITS;
  taken.push(...quota.taken);
  if (quota.denied) yield* giveBack(taken.splice(0), trace);
  return verdict(quota.gates, quota.retryAfterS);
}
