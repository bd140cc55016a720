import type { Plan } from "../../domain/account/plans.ts";
import { monthEnd, monthOf, untilMidnight } from "../../domain/calendar.ts";
import { allowed, denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Answer, Limits } from "../../domain/ledger/ledger.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Trace } from "../envelope.ts";
import type { Ledgers, Reservation } from "./ledgers.ts";

/** Micro-euros in a euro: money is counted in whole ones of these. */
const MICRO = 1_000_000;

export type LedgerInput = {
  readonly account: string;
  readonly plan: Plan;
  readonly timeZone: string;
  readonly eventId: string;
  readonly policy: { readonly id: string; readonly definition: PolicyDefinition } | null;
  /** Micro-euros; null when it could not be determined. */
  readonly cost: number | null;
  readonly nowMs: number;
  readonly trace: Trace;
};

export type LedgerVerdict = {
  readonly gates: readonly GateResult[];
  readonly reservations: readonly Reservation[];
  /** When the sender may try again, if a gate denied. */
  readonly retryAfterS: number | null;
};

/** Code of the budget gate when there is nothing to count. */
export const COST_UNKNOWN = "cost-unknown";

const euros = (micro: number): string => (micro / MICRO).toFixed(2);
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

const limitsOf = (definition: PolicyDefinition): Limits => ({
  ...(definition.budget_eur_day === undefined ? {} : { budget: Math.round(definition.budget_eur_day * MICRO) }),
  ...(definition.rate_per_minute === undefined ? {} : { rate: definition.rate_per_minute }),
});

const rateGate = ({ rate }: Answer): GateResult[] => {
  if (rate === undefined) return [];
  const detail = `${rate.used} of ${rate.limit} in the last minute`;
  return [rate.over ? denied("rate", "rate-reached", detail) : allowed("rate", detail)];
};

const budgetGate = ({ budget }: Answer, cost: number): GateResult[] => {
  if (budget === undefined) return [];
  const detail = `${euros(budget.used)} of ${euros(budget.limit)} EUR used today, this one costs ${euros(cost)} EUR`;
  return [budget.over ? denied("budget", "budget-spent", detail) : allowed("budget", detail)];
};

/** The same event never has another cost: only another payload, or another policy, passes. */
const costUnknown = ({ cost }: PolicyDefinition): GateResult => {
  const missing =
    cost === undefined || "fixed_eur" in cost
      ? "the policy has no cost rule"
      : `the payload has no amount at ${cost.pointer}, and the policy's cost rule no default_eur`;
  return denied("budget", COST_UNKNOWN, `What this event costs cannot be determined: ${missing}`);
};

/** The gates that count: rate and budget of the policy, then the plan's quota. What one of them refuses, the ones before it
 * give back. What a policy that only watches would have refused takes no place in its ledger, but in the plan's quota, as
 * it is admitted. */
export const ledgerGates = async (ledgers: Ledgers, input: LedgerInput): Promise<LedgerVerdict> => {
  const { account, eventId, trace, policy, plan, timeZone, nowMs } = input;
  const gates: GateResult[] = [];
  const reservations: Reservation[] = [];
  const limits = policy === null ? {} : limitsOf(policy.definition);
  const blocks = policy?.definition.block_on_violation !== false;

  if (policy !== null && limits.budget !== undefined && input.cost === null) {
    gates.push(costUnknown(policy.definition));
    if (blocks) return { gates, reservations, retryAfterS: seconds(untilMidnight(timeZone, nowMs)) };
  } else if (policy !== null && (limits.budget !== undefined || limits.rate !== undefined)) {
    const cost = input.cost ?? 0;
    const reserved = await ledgers.reserveDay({ account, id: policy.id, timeZone }, eventId, cost, limits, trace);
    const { answer } = reserved;
    gates.push(...rateGate(answer), ...budgetGate(answer, cost));
    if (!answer.granted) {
      const wait = answer.budget?.over === true ? untilMidnight(timeZone, nowMs) : (answer.rate?.retryAfterMs ?? 0);
      if (blocks) return { gates, reservations, retryAfterS: seconds(wait) };
    } else reservations.push(reserved);
  }
  if (!plan.hardStop) return { gates, reservations, retryAfterS: null };

  const month = monthOf(nowMs);
  const limit = { count: plan.eventsPerMonth };
  const reserved = await ledgers.reserve(`ledger-${account}-${month}`, account, eventId, limit, trace);
  const used = reserved.answer.count?.used ?? 0;
  if (reserved.answer.granted) {
    gates.push(allowed("quota", `${used} of ${plan.eventsPerMonth} events of the ${plan.name} plan used in ${month}`));
    return { gates, reservations: [...reservations, reserved], retryAfterS: null };
  }
  const detail = `All ${plan.eventsPerMonth} events of the ${plan.name} plan are used in ${month}`;
  gates.push(denied("quota", "quota-reached", detail));
  for (const { stream } of reservations) await ledgers.release(stream, account, eventId, trace);
  return { gates, reservations: [], retryAfterS: seconds(monthEnd(nowMs) - nowMs) };
};
