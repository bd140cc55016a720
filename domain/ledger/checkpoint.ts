import { defined } from "../defined.ts";
import type { LedgerCheckpoint, LedgerEvent } from "./events.ts";
import { emptyLedger, enterWindow, evolveLedger, type Ledger, WINDOW_MS } from "./state.ts";

export const checkpointOf = (ledger: Ledger, revision: number): LedgerCheckpoint => {
  const [oldest] = ledger.recent.values();
  return defined({
    revision,
    window_from: Math.min(oldest?.revision ?? revision + 1, revision + 1),
    settled: ledger.settled,
    overrun: ledger.overrun,
    reservation: ledger.reservation,
    closed: ledger.closed || undefined,
    budget: ledger.budget ?? undefined,
    reached: ledger.reached || undefined,
    charged: ledger.charged.size === 0 ? undefined : [...ledger.charged],
    settled_count: ledger.settledCount,
    last_at: ledger.lastAt,
    open: [...ledger.open].map(([event, { cost, at, reservations, revision, places }]) =>
      places === 1
        ? ([event, cost, at, reservations, revision] as const)
        : ([event, cost, at, reservations, revision, places] as const),
    ),
  });
};

const withoutWindow = (checkpoint: LedgerCheckpoint, windowMs: number): Ledger => {
  const ledger = emptyLedger(windowMs);
  ledger.settled = checkpoint.settled;
  ledger.overrun = checkpoint.overrun;
  ledger.reservation = checkpoint.reservation;
  ledger.closed = checkpoint.closed === true;
  ledger.budget = checkpoint.budget ?? null;
  ledger.reached = checkpoint.reached ?? 0;
  ledger.settledCount = checkpoint.settled_count;
  ledger.lastAt = checkpoint.last_at;
  for (const event of checkpoint.charged ?? []) ledger.charged.add(event);
  for (const [event, cost, at, reservations, revision, places = 1] of checkpoint.open) {
    ledger.open.set(event, { at, cost, places, reservations, settled: false, revision });
    ledger.reserved += cost;
    ledger.openCount += places;
  }
  return ledger;
};

export type Restoring = {
  readonly refill: (record: LedgerEvent, revision: number) => void;
  readonly ledger: () => Ledger;
};

/** A checkpoint leaves out the places of the window, which are folded again from the records. */
export const restoring = (checkpoint: LedgerCheckpoint, windowMs = WINDOW_MS): Restoring => {
  const window = emptyLedger(windowMs);
  const isInWindow = ({ at }: { readonly at: number }): boolean => at > checkpoint.last_at - windowMs;
  return {
    refill(record, revision) {
      // A request that joins an older place has that place's time, so it does not bring the place back to the window.
      const seen =
        record.type === "Reserved"
          ? { ...record, data: { ...record.data, entries: record.data.entries.filter(isInWindow) } }
          : record;
      evolveLedger(window, seen, revision);
    },
    ledger() {
      const ledger = withoutWindow(checkpoint, windowMs);
      for (const [event, place] of window.recent) {
        if (isInWindow(place)) enterWindow(ledger, event, ledger.open.get(event) ?? place);
      }
      return ledger;
    },
  };
};
