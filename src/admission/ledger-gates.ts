import type { Plan } from "../../domain/account/plans.ts";
import { monthEnd, monthOf, untilMidnight } from "../../domain/calendar.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { allowed, denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Answer, Limits } from "../../domain/ledger/ledger.ts";
import { runLedger, sameLedger } from "../../domain/ledger/loop.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import type { Trace } from "../envelope.ts";
import type { Ledgers, Reservation } from "./ledgers.ts";

/** Micro-euros in a euro: money is counted in whole ones of these. */
const MICRO = 1_000_000;

export type LedgerInput = {
  readonly account: string;
  /** Null: not counted for the plan's quota. */
  readonly plan: Plan | null;
  readonly timeZone: string;
  readonly eventId: string;
  readonly policy: { readonly id: string; readonly definition: PolicyDefinition } | null;
  /** Micro-euros; null when it could not be determined. */
  readonly cost: number | null;
  /** Whether the request's own action has a cost rule, which then stands for the policy's. */
  readonly actionCost?: boolean;
  /** What makes two requests the same; asked for only where a policy counts them. */
  readonly digest: () => string;
  /** Null for what belongs to no run. */
  readonly run: Run | null;
  readonly nowMs: number;
  readonly trace: Trace;
};

/**
 * `lasts`: held until the event ends, which says what it has cost, where the event is one that ends so. Else it is spent by
 * having been asked for, as the place of a repetition.
 */
export type TakenPlace = Reservation & { readonly lasts: boolean };

export type LedgerVerdict = {
  readonly gates: readonly GateResult[];
  readonly reservations: readonly TakenPlace[];
  /** When the sender may try again, if a gate denied; null when that is never. */
  readonly retryAfterS: number | null;
};

/** Codes of gates that deny for good: what has passed one day passes no other day either. */
const COST_UNKNOWN = "cost-unknown";
const RUN_USED_UP = "run-used-up";
const TOO_DEEP = "too-deep";
const FOR_GOOD: ReadonlySet<string> = new Set([COST_UNKNOWN, RUN_USED_UP, TOO_DEEP]);

/** Whether the same request may pass this gate later. */
export const mayPassLater = ({ code }: GateResult): boolean => !FOR_GOOD.has(code);

const euros = (micro: number): string => (micro / MICRO).toFixed(2);
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** The answer of one or several gates that count together: refused by one, they take no place at all. */
type Counted = {
  readonly gates: readonly GateResult[];
  readonly taken: readonly TakenPlace[];
  readonly refused: boolean;
  readonly retryAfterS: number | null;
};
const NOTHING_COUNTED: Counted = { gates: [], taken: [], refused: false, retryAfterS: null };
const refused = (gates: readonly GateResult[], retryAfterMs: number | null): Counted => ({
  gates,
  taken: [],
  refused: true,
  retryAfterS: retryAfterMs === null ? null : seconds(retryAfterMs),
});

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
const costUnknown = ({ cost }: PolicyDefinition, actionCost: boolean): GateResult => {
  const missing = actionCost
    ? "the payload has no amount where the action's cost rule looks for it, and the rule no default_eur"
    : cost === undefined || "fixed_eur" in cost
      ? "the policy has no cost rule"
      : `the payload has no amount at ${cost.pointer}, and the policy's cost rule no default_eur`;
  return denied("budget", COST_UNKNOWN, `What this event costs cannot be determined: ${missing}`);
};

/** Rate and budget of the policy: one ledger, one answer. */
const dayGates = async (ledgers: Ledgers, input: LedgerInput): Promise<Counted> => {
  const { account, eventId, trace, policy, timeZone, nowMs } = input;
  if (policy === null) return NOTHING_COUNTED;
  const limits = limitsOf(policy.definition);
  if (limits.budget !== undefined && input.cost === null) {
    return refused([costUnknown(policy.definition, input.actionCost === true)], untilMidnight(timeZone, nowMs));
  }
  if (limits.budget === undefined && limits.rate === undefined) return NOTHING_COUNTED;
  const cost = input.cost ?? 0;
  const reserved = await ledgers.reserveDay({ account, id: policy.id, timeZone }, eventId, cost, limits, trace);
  const { answer } = reserved;
  const gates = [...rateGate(answer), ...budgetGate(answer, cost)];
  if (answer.granted) return { gates, taken: [{ ...reserved, lasts: true }], refused: false, retryAfterS: null };
  const wait = answer.budget?.over === true ? untilMidnight(timeZone, nowMs) : (answer.rate?.retryAfterMs ?? 0);
  return refused(gates, wait);
};

/** Repetitions, then requests of the run, each in a ledger of its own; how deep it is needs none. One gate: refused by any
 * of the three it takes no place in either. */
const loopGate = async (ledgers: Ledgers, input: LedgerInput): Promise<Counted> => {
  const { account, eventId, trace, policy, run } = input;
  const loop = policy?.definition.loop;
  if (policy === null || loop === undefined) return NOTHING_COUNTED;
  const said: string[] = [];
  const taken: TakenPlace[] = [];
  const stop = async (code: string, detail: string, retryAfterMs: number | null): Promise<Counted> => {
    for (const { stream } of taken) await ledgers.release(stream, account, eventId, trace);
    return refused([denied("loop", code, detail)], retryAfterMs);
  };
  const take = async (stream: string, limits: Limits): Promise<Answer> => {
    const reserved = await ledgers.reserve(stream, account, eventId, limits, trace);
    if (reserved.answer.granted) taken.push({ ...reserved, lasts: false });
    return reserved.answer;
  };

  const { max_identical, window_s, max_per_run, max_depth } = loop;
  if (max_depth !== undefined && run !== null) {
    // What the target is told: one more than the caller was.
    const depth = run.depth + 1;
    const detail = `depth ${depth} of ${max_depth}`;
    if (depth > max_depth) return stop(TOO_DEEP, detail, null);
    said.push(detail);
  }
  if (max_identical !== undefined && window_s !== undefined) {
    const { rate, granted } = await take(sameLedger(policy.id, window_s, input.digest()), { rate: max_identical });
    const detail = `${rate?.used ?? 0} of ${max_identical} identical in ${window_s} s`;
    if (!granted) return stop("identical-reached", detail, rate?.retryAfterMs ?? 0);
    said.push(detail);
  }
  if (max_per_run !== undefined && run !== null && run.id !== null) {
    const { count, granted } = await take(runLedger(policy.id, derivedId("", run.id)), { count: max_per_run });
    const detail = `${count?.used ?? 0} of ${max_per_run} in this run`;
    if (!granted) return stop(RUN_USED_UP, detail, null);
    said.push(detail);
  }
  const detail = said.length === 0 ? "nothing to count" : said.join(", ");
  return { gates: [allowed("loop", detail)], taken, refused: false, retryAfterS: null };
};

const quotaGate = async (ledgers: Ledgers, input: LedgerInput): Promise<Counted> => {
  const { account, eventId, trace, plan, nowMs } = input;
  if (plan === null || !plan.hardStop) return NOTHING_COUNTED;
  const month = monthOf(nowMs);
  const limit = { count: plan.eventsPerMonth };
  const reserved = await ledgers.reserve(`ledger-${account}-${month}`, account, eventId, limit, trace);
  const used = reserved.answer.count?.used ?? 0;
  if (reserved.answer.granted) {
    const detail = `${used} of ${plan.eventsPerMonth} events of the ${plan.name} plan used in ${month}`;
    return {
      gates: [allowed("quota", detail)],
      taken: [{ ...reserved, lasts: true }],
      refused: false,
      retryAfterS: null,
    };
  }
  const detail = `All ${plan.eventsPerMonth} events of the ${plan.name} plan are used in ${month}`;
  return refused([denied("quota", "quota-reached", detail)], monthEnd(nowMs) - nowMs);
};

/** In the order of the answer: rate, loop, budget, quota. */
const inOrder = (gates: readonly GateResult[]): readonly GateResult[] => {
  const at = (gate: GateResult): number => (gate.gate === "rate" ? 0 : gate.gate === "loop" ? 1 : 2);
  return gates.toSorted((a, b) => at(a) - at(b));
};

/** The gates that count: rate and budget of the policy, what it stops as a loop, then the plan's quota. What one of them
 * refuses, the ones before it give back. What a policy that only watches would have refused takes no place in its ledger,
 * but in the plan's quota, as it is admitted. */
export const ledgerGates = async (ledgers: Ledgers, input: LedgerInput): Promise<LedgerVerdict> => {
  const { account, eventId, trace, policy } = input;
  const blocks = policy?.definition.block_on_violation !== false;
  const gates: GateResult[] = [];
  const taken: TakenPlace[] = [];
  for (const ask of [dayGates, loopGate, quotaGate]) {
    const counted = await ask(ledgers, input);
    gates.push(...counted.gates);
    taken.push(...counted.taken);
    // The quota is the plan's: no policy only watches it.
    if (!counted.refused || (!blocks && ask !== quotaGate)) continue;
    for (const { stream } of taken) await ledgers.release(stream, account, eventId, trace);
    return { gates: inOrder(gates), reservations: [], retryAfterS: counted.retryAfterS };
  }
  return { gates: inOrder(gates), reservations: taken, retryAfterS: null };
};
