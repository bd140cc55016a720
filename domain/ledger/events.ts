/**
 * A reservation of a place for an event, a source or a bundle. `cost` in micro-euros, `at` in ms since 1970. `places`:
 * steps of a bundle; left out for one. `reservation`: consecutive numbers within the stream, from 1 on.
 */
export type Entry = {
  readonly event: string;
  readonly cost: number;
  readonly at: number;
  readonly places?: number;
  readonly reservation: number;
};

/**
 * Spends a whole place if a reservation with this number or a lower one holds it. `cost` in micro-euros counts even if
 * it exceeds the reserved cost.
 */
export type Settlement = { readonly event: string; readonly cost: number; readonly up_to: number };

/**
 * A request gives back its own reservation. After a crash all reservations are given back that were known when the log
 * was asked about the event, so that a later one keeps the place.
 */
export type Release = { readonly event: string } & ({ readonly reservation: number } | { readonly up_to: number });

/**
 * Times of the previous day's places that are still in the window: the first in ms since 1970, the others in ms since
 * the one before. `counts`: places at each time, left out if one each. So it fits into one append at any rate.
 */
export type Carried = { readonly carried: readonly number[]; readonly counts?: readonly number[] };

/**
 * Streams `ledger-<policy>-<day>`, `ledger-<account>-<month>` (quota), `ledger-<account>-<kind>` (slots),
 * `ledger-<policy>.same-<seconds>-<digest>` and `ledger-<policy>.run-<run>` (`loop.ts`).
 */
export type LedgerEvent =
  /** The first record of a day. */
  | { readonly type: "LedgerOpened"; readonly data: Carried }
  | {
      readonly type: "Reserved";
      readonly data: {
        readonly entries: readonly Entry[];
        /** Micro-euros, null for no limit; left out if unchanged. */
        readonly budget?: number | null;
      };
    }
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly Settlement[] } }
  /**
   * Spent without a place and regardless of limits, once for each name, such as the further cost of a replay. Micro-
   * euros.
   */
  | { readonly type: "Charged"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  | { readonly type: "Released"; readonly data: { readonly entries: readonly Release[] } }
  /** Part of the append whose places reach the threshold (percent), once a ledger. Micro-euros. */
  | {
      readonly type: "BudgetThresholdReached";
      readonly data: { readonly threshold: number; readonly used: number; readonly limit: number };
    }
  /** The next day is open. */
  | { readonly type: "LedgerClosed"; readonly data: { readonly at: number } };

/** Stream `checkpoint-<ledger stream>`: a ledger at a revision, which shortens opening it. */
export type LedgerCheckpoint = {
  readonly revision: number;
  /** The first revision whose places are still in the window. */
  readonly window_from: number;
  readonly settled: number;
  readonly overrun: number;
  /** The newest reservation; 0 before the first. */
  readonly reservation: number;
  readonly closed?: true;
  /** These two are missing without a budget or before the first threshold. */
  readonly budget?: number;
  readonly reached?: number;
  readonly charged?: readonly string[];
  readonly settled_count: number;
  readonly last_at: number;
  /** Event, cost, at, reservations, revision, and the number of places unless it is one. */
  readonly open: readonly (readonly [string, number, number, readonly number[], number, number?])[];
};
