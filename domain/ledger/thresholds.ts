import type { LedgerEvent } from "./events.ts";
import type { Ledger, LedgerCommand } from "./ledger.ts";
import { isSettledBy, withoutReleased } from "./reservations.ts";

/** Percent of a budget at which people are told, in rising order. */
const BUDGET_THRESHOLDS = [50, 80, 100] as const;
const HIGHEST = 100;

/** The budget that the last reservation of a batch is held to, null for none; undefined where nothing is to be reserved. */
export const budgetAsked = (commands: readonly LedgerCommand[]): number | null | undefined => {
  const last = commands.findLast((command) => command.type === "Reserve");
  return last?.type === "Reserve" ? (last.limits.budget ?? null) : undefined;
};

type Open = { readonly cost: number; readonly reservations: readonly number[] };

/** Tells of one event after the other what is reserved and settled behind it; the ledger itself stays as it is. */
const foreseen = (ledger: Ledger): ((event: LedgerEvent) => number) => {
  let used = ledger.reserved + ledger.settled;
  /** Places as these events leave them; undefined: closed. */
  const places = new Map<string, Open | undefined>();
  const openOf = (event: string): Open | undefined => (places.has(event) ? places.get(event) : ledger.open.get(event));

  return ({ type, data }) => {
    if (type === "Reserved") {
      for (const { event, cost, reservation } of data.entries) {
        const { cost: before, reservations } = openOf(event) ?? { cost: 0, reservations: [] };
        used += Math.max(0, cost - before);
        places.set(event, { cost: Math.max(before, cost), reservations: [...reservations, reservation] });
      }
    } else if (type === "Released") {
      for (const release of data.entries) {
        const { event } = release;
        const place = openOf(event);
        if (place === undefined) continue;
        const reservations = withoutReleased(place.reservations, release);
        if (reservations.length === 0) used -= place.cost;
        places.set(event, reservations.length > 0 ? { ...place, reservations } : undefined);
      }
    } else if (type === "Settled") {
      for (const settlement of data.entries) {
        const { event, cost } = settlement;
        const place = openOf(event);
        if (place === undefined || !isSettledBy(place.reservations, settlement)) continue;
        used += cost - place.cost;
        places.set(event, undefined);
      }
    }
    if (type === "Charged") for (const { cost } of data.entries) used += cost;
    return used;
  };
};

/** A budget that has become another is told with the places that are held to it. */
const withBudget = (ledger: Ledger, budget: number | null, event: LedgerEvent): LedgerEvent =>
  event.type === "Reserved" && budget !== ledger.budget ? { ...event, data: { ...event.data, budget } } : event;

/**
 * The events of a batch, and behind each of them the thresholds that it is the first to reach: one append, so each is
 * reached once a ledger, whoever else writes to it and whatever dies. `asked`: as `budgetAsked` says.
 */
export const withThresholds = (
  ledger: Ledger,
  asked: number | null | undefined,
  events: readonly LedgerEvent[],
): readonly LedgerEvent[] => {
  const budget = asked === undefined ? ledger.budget : asked;
  const known = events.map((event) => withBudget(ledger, budget, event));
  if (budget === null || ledger.reached >= HIGHEST) return known;
  let { reached } = ledger;
  const reachedBy = (used: number): readonly LedgerEvent[] => {
    const now = BUDGET_THRESHOLDS.filter((percent) => percent > reached && used / budget >= percent / 100);
    reached = now.at(-1) ?? reached;
    return now.map((threshold) => ({ type: "BudgetThresholdReached", data: { threshold, used, limit: budget } }));
  };
  const behind = foreseen(ledger);
  // A smaller budget may be used up already: then nothing is reserved, and it is told all the same.
  if (known.length === 0) return reachedBy(ledger.reserved + ledger.settled);
  return known.flatMap((event) => [event, ...reachedBy(behind(event))]);
};
