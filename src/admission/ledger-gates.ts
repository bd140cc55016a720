import type { Plan } from "../../domain/account/plans.ts";
import { monthEnd, monthOf, untilMidnight } from "../../domain/calendar.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { COST_UNKNOWN, whyCostUnknown } from "../../domain/gate/cost.ts";
import { allowed, denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Limits } from "../../domain/ledger/commands.ts";
import type { Answer } from "../../domain/ledger/decider.ts";
import { type LoopRule, runLedger, sameLedger } from "../../domain/ledger/loop.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import type { Ledgers, Reservation, Reserving } from "../ledgers/ledgers.ts";
import { ORPHAN_AGE_MS } from "../ledgers/orphaned-places.ts";
import type { Trace } from "../streams/envelope.ts";

/** Micro-euros in a euro: money is counted in whole ones of these. */
const MICRO = 1_000_000;

/** A policy whose limits a request has to keep, each in ledgers of that policy alone. */
type CountedPolicy = {
  readonly id: string;
  readonly definition: PolicyDefinition;
  /** Micro-euros to reserve; null when the cost could not be determined. */
  readonly cost: number | null;
  /** Why `cost` is null. */
  readonly costMissing?: string;
  /** Of a bundle's steps; left out: one. */
  readonly places?: number;
  /** What makes requests the same, and how many of each are asked for; called only where a policy counts them. */
  readonly identical: () => ReadonlyMap<string, number>;
};

export type LedgerInput = {
  readonly account: string;
  /** Null: not counted for the plan's quota. */
  readonly plan: Plan | null;
  readonly timeZone: string;
  readonly eventId: string;
  readonly policies: readonly CountedPolicy[];
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
  /** What each policy says, in the order in which the policies were given; empty for one that was not asked any more. */
  readonly gates: readonly (readonly GateResult[])[];
  /** The plan's quota, which belongs to no policy. */
  readonly quota: readonly GateResult[];
  readonly reservations: readonly TakenPlace[];
  /** When the sender may try again, if a gate denied; null when that is never. */
  readonly retryAfterS: number | null;
};

/** Codes of gates that deny for good: what has passed one day passes no other day either. */
const RUN_USED_UP = "run-used-up";
const TOO_DEEP = "too-deep";
const TOO_MANY_STEPS = "too-many-steps";
const FOR_GOOD: ReadonlySet<string> = new Set([COST_UNKNOWN, RUN_USED_UP, TOO_DEEP, TOO_MANY_STEPS]);

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

/** What a single request does not say: that it asks for one. */
const asksFor = (places: number): string => (places === 1 ? "" : `, this bundle asks for ${places}`);

/** So many steps never find room together, however long they wait. */
const exceeds = (places: number, limit: number): boolean => places > 1 && places > limit;

const rateGate = ({ rate }: Answer, places: number): GateResult[] => {
  if (rate === undefined) return [];
  const detail = `${rate.used} of ${rate.limit} in the last minute${asksFor(places)}`;
  if (!rate.over) return [allowed("rate", detail)];
  return [denied("rate", exceeds(places, rate.limit) ? TOO_MANY_STEPS : "rate-reached", detail)];
};

/** Two requests with one key and other steps: neither may take the other's places, which one of them gives back soon. */
const contested = (gate: "rate" | "loop"): Counted =>
  refused(
    [denied(gate, "contested", "another request with this key, and fewer steps, is being decided")],
    ORPHAN_AGE_MS,
  );

const budgetGate = ({ budget }: Answer, cost: number): GateResult[] => {
  if (budget === undefined) return [];
  const detail = `${euros(budget.used)} of ${euros(budget.limit)} EUR used today, this one costs ${euros(cost)} EUR`;
  return [budget.over ? denied("budget", "budget-spent", detail) : allowed("budget", detail)];
};

/** The same event never has another cost: only another payload, or another policy, passes. */
const costUnknown = (missing: string): GateResult =>
  denied("budget", COST_UNKNOWN, `What this event costs cannot be determined: ${missing}`);

type PolicyInput = LedgerInput & { readonly policy: CountedPolicy };

/** Rate and budget of the policy: one ledger, one answer. */
const dayGates = async (ledgers: Reserving, input: PolicyInput): Promise<Counted> => {
  const { account, eventId, trace, policy, timeZone, nowMs } = input;
  const { places = 1 } = policy;
  const limits = limitsOf(policy.definition);
  if (limits.budget !== undefined && policy.cost === null) {
    const missing = policy.costMissing ?? whyCostUnknown(null, null, "policy");
    return refused([costUnknown(missing)], untilMidnight(timeZone, nowMs));
  }
  if (limits.budget === undefined && limits.rate === undefined) return NOTHING_COUNTED;
  const cost = policy.cost ?? 0;
  const day = { account, id: policy.id, timeZone };
  const reserved = await ledgers.reserveDay({ policy: day, event: eventId, cost, limits, trace, places });
  const { answer } = reserved;
  if (answer.isContested === true) return contested("rate");
  const gates = [...rateGate(answer, places), ...budgetGate(answer, cost)];
  if (answer.granted) return { gates, taken: [{ lasts: true, ...reserved }], refused: false, retryAfterS: null };
  if (answer.rate !== undefined && exceeds(places, answer.rate.limit)) return refused(gates, null);
  const wait = answer.budget?.over === true ? untilMidnight(timeZone, nowMs) : (answer.rate?.retryAfterMs ?? 0);
  return refused(gates, wait);
};

type Take = (stream: string, limits: Limits, places: number) => Promise<Answer>;
type LoopInput = Pick<LedgerInput, "run"> &
  Pick<CountedPolicy, "identical" | "places"> & { readonly policyId: string; readonly loop: LoopRule };
/** Null where the policy has no such limit. */
type LoopAnswer =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly counted: Counted }
  | null;

const stopped = (code: string, detail: string, retryAfterMs: number | null): LoopAnswer => ({
  ok: false,
  counted: refused([denied("loop", code, detail)], retryAfterMs),
});

const depthLimit = async ({ loop: { max_depth }, run }: LoopInput): Promise<LoopAnswer> => {
  if (max_depth === undefined || run === null) return null;
  // What the target is told: one more than the caller was.
  const depth = run.depth + 1;
  const detail = `depth ${depth} of ${max_depth}`;
  return depth > max_depth ? stopped(TOO_DEEP, detail, null) : { ok: true, detail };
};

type IdenticalInput = Pick<LoopInput, "policyId" | "loop" | "identical">;

const identicalLimit = async ({ policyId, loop, identical }: IdenticalInput, take: Take): Promise<LoopAnswer> => {
  const { max_identical, window_s } = loop;
  if (max_identical === undefined || window_s === undefined) return null;
  const about = (used: number): string => `${used} of ${max_identical} identical in ${window_s} s`;
  let most = 0;
  // In one order for all that ask: of two that would take each other's places one gets all of its own.
  for (const [digest, places] of [...identical()].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const answer = await take(sameLedger(policyId, window_s, digest), { rate: max_identical }, places);
    if (answer.isContested === true) return { ok: false, counted: contested("loop") };
    const used = answer.rate?.used ?? 0;
    most = Math.max(most, used);
    if (answer.granted) continue;
    const detail = about(used) + asksFor(places);
    if (exceeds(places, max_identical)) return stopped(TOO_MANY_STEPS, detail, null);
    return stopped("identical-reached", detail, answer.rate?.retryAfterMs ?? 0);
  }
  return { ok: true, detail: about(most) };
};

const runLimit = async ({ policyId, loop, run, places = 1 }: LoopInput, take: Take): Promise<LoopAnswer> => {
  const { max_per_run } = loop;
  if (max_per_run === undefined || run === null || run.id === null) return null;
  const answer = await take(runLedger(policyId, derivedId("", run.id)), { count: max_per_run }, places);
  if (answer.isContested === true) return { ok: false, counted: contested("loop") };
  const detail = `${answer.count?.used ?? 0} of ${max_per_run} in this run${asksFor(places)}`;
  return answer.granted ? { ok: true, detail } : stopped(RUN_USED_UP, detail, null);
};

/** How deep it is, which needs no ledger, then repetitions and requests of the run, each in a ledger of its own. One gate:
 * refused by any of the three it takes no place in either. */
const loopGate = async (ledgers: Reserving, input: PolicyInput): Promise<Counted> => {
  const { account, eventId, trace, policy, run } = input;
  const { id: policyId, identical, places: asked = 1 } = policy;
  const { loop } = policy.definition;
  if (loop === undefined) return NOTHING_COUNTED;
  const said: string[] = [];
  const taken: TakenPlace[] = [];
  const take: Take = async (stream, limits, places) => {
    const reserved = await ledgers.reserve({ stream, account, event: eventId, limits, trace, places });
    if (reserved.answer.granted) taken.push({ lasts: false, ...reserved });
    return reserved.answer;
  };
  for (const ask of [depthLimit, identicalLimit, runLimit]) {
    const answer = await ask({ run, policyId, identical, places: asked, loop }, take);
    if (answer?.ok === false) {
      for (const reservation of taken) await ledgers.release(reservation, trace);
      return answer.counted;
    }
    if (answer !== null) said.push(answer.detail);
  }
  const detail = said.length === 0 ? "nothing to count" : said.join(", ");
  return { gates: [allowed("loop", detail)], taken, refused: false, retryAfterS: null };
};

/** One more that became known later than the rest of what it was asked for with. */
export type Repetition = {
  readonly account: string;
  /** Names its place: asked again by it, it is the same. */
  readonly holder: string;
  readonly policyId: string;
  readonly loop: LoopRule;
  /** As the keys of `LedgerInput.identical`. */
  readonly digest: string;
  readonly trace: Trace;
};

/** What the loop gate says of repetitions alone; null where the policy does not count them. Its place is spent by being asked for. */
export const repetitionGate = async (
  ledgers: Pick<Ledgers, "reserve" | "settle">,
  { account, holder, policyId, loop, digest, trace }: Repetition,
): Promise<GateResult | null> => {
  const take: Take = async (stream, limits, places) => {
    const reservation = await ledgers.reserve({ stream, account, event: holder, limits, trace, places });
    if (reservation.answer.granted) ledgers.settle(reservation, 0, trace);
    return reservation.answer;
  };
  const answer = await identicalLimit({ policyId, loop, identical: () => new Map([[digest, 1]]) }, take);
  if (answer === null) return null;
  return answer.ok ? allowed("loop", answer.detail) : (answer.counted.gates[0] ?? null);
};

const quotaGate = async (ledgers: Reserving, input: LedgerInput): Promise<Counted> => {
  const { account, eventId, trace, plan, nowMs } = input;
  if (plan === null || !plan.hardStop) return NOTHING_COUNTED;
  const month = monthOf(nowMs);
  const limit = { count: plan.eventsPerMonth };
  const reserved = await ledgers.reserve({
    stream: `ledger-${account}-${month}`,
    account,
    event: eventId,
    limits: limit,
    trace,
  });
  const used = reserved.answer.count?.used ?? 0;
  if (reserved.answer.granted) {
    const detail = `${used} of ${plan.eventsPerMonth} events of the ${plan.name} plan used in ${month}`;
    return {
      gates: [allowed("quota", detail)],
      taken: [{ lasts: true, ...reserved }],
      refused: false,
      retryAfterS: null,
    };
  }
  const detail = `All ${plan.eventsPerMonth} events of the ${plan.name} plan are used in ${month}`;
  return refused([denied("quota", "quota-reached", detail)], monthEnd(nowMs) - nowMs);
};

/** In the order of the answer: rate, loop, budget. */
const inOrder = (gates: readonly GateResult[]): readonly GateResult[] => {
  const at = (gate: GateResult): number => (gate.gate === "rate" ? 0 : gate.gate === "loop" ? 1 : 2);
  return gates.toSorted((a, b) => at(a) - at(b));
};

/** In one order for all that ask, so that of two requests that would take each other's places one gets all of its own. */
const byId = (policies: readonly CountedPolicy[]): readonly CountedPolicy[] =>
  policies.length < 2 ? policies : policies.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/**
 * The gates that count: for each policy its rate and budget and what it stops as a loop, then the plan's quota. What one of
 * them refuses, all that were asked before give back. What a policy that only watches would have refused takes no place in
 * that policy's ledgers, but in the others', as it is admitted.
 */
export const ledgerGates = async (ledgers: Reserving, input: LedgerInput): Promise<LedgerVerdict> => {
  const { trace, policies } = input;
  const said = new Map<CountedPolicy, readonly GateResult[]>();
  const taken: TakenPlace[] = [];
  const verdict = (quota: readonly GateResult[], retryAfterS: number | null = null): LedgerVerdict => ({
    gates: policies.map((policy) => said.get(policy) ?? []),
    quota,
    reservations: taken,
    retryAfterS,
  });
  const giveBack = async (): Promise<void> => {
    for (const reservation of taken) await ledgers.release(reservation, trace);
    taken.length = 0;
  };
  for (const policy of byId(policies)) {
    const blocks = policy.definition.block_on_violation !== false;
    for (const ask of [dayGates, loopGate]) {
      const counted = await ask(ledgers, { ...input, policy });
      said.set(policy, inOrder([...(said.get(policy) ?? []), ...counted.gates]));
      taken.push(...counted.taken);
      if (!counted.refused || !blocks) continue;
      await giveBack();
      return verdict([], counted.retryAfterS);
    }
  }
  const quota = await quotaGate(ledgers, input);
  taken.push(...quota.taken);
  if (quota.refused) await giveBack();
  return verdict(quota.gates, quota.retryAfterS);
};
