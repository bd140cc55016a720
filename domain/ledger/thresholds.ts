import type { LedgerEvent } from "./events.ts";
import { evolveLedger, type Ledger, type Place } from "./state.ts";

const BUDGET_THRESHOLDS = [50, 80, 100] as const;
const HIGHEST = 100;

const excerpt = (ledger: Ledger, events: readonly LedgerEvent[]): Ledger => {
  const open = new Map<string, Place>();
  for (const { type, data } of events) {
    if (type !== "Reserved" && type !== "Settled" && type !== "Released") continue;
    for (const { event } of data.entries) {
      const place = ledger.open.get(event);
      if (place !== undefined) open.set(event, { ...place });
    }
  }
  return { ...ledger, recent: new Map(), open, charged: new Set() };
};

const withBudget = (ledger: Ledger, budget: number | null, event: LedgerEvent): LedgerEvent =>
  event.type === "Reserved" && budget !== ledger.budget ? { ...event, data: { ...event.data, budget } } : event;

/** Adds thresholds to the append that reaches them, so each is recorded once, on any number of nodes. */
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
  // A smaller budget may already be used up: its thresholds are recorded although nothing is reserved.
  if (known.length === 0) return reachedBy(ledger.reserved + ledger.settled);
  const ahead = excerpt(ledger, known);
  return known.flatMap((event) => {
    evolveLedger(ahead, event, 0);
    return [event, ...reachedBy(ahead.reserved + ahead.settled)];
  });
};
