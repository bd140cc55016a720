/** `cost` is in micro-euros, `at` in ms since 1970. `places` is absent for one; `reservation` counts from 1. */
export type Entry = {
  readonly event: string;
  readonly cost: number;
  readonly at: number;
  readonly places?: number;
  readonly reservation: number;
};

/** Spends the place if a reservation with this number or a lower one holds it. `cost` may exceed the reserved cost. */
export type Settlement = { readonly event: string; readonly cost: number; readonly up_to: number };

/** A request gives back its own reservation. After a crash, all reservations known at that time are given back. */
export type Release = { readonly event: string } & ({ readonly reservation: number } | { readonly up_to: number });

/**
 * `carried`: times of yesterday's places in the window, each in ms since the previous one, so that they fit into one
 * append at any rate. `counts`: places at each time, absent if one each.
 */
export type Carried = { readonly carried: readonly number[]; readonly counts?: readonly number[] };

/** `ledger-<policy>-<day>`, `ledger-<account>-<month>` (quota), `ledger-<account>-<kind>` (slots); see `loop.ts`. */
export type LedgerEvent =
  | { readonly type: "LedgerOpened"; readonly data: Carried }
  | {
      readonly type: "Reserved";
      readonly data: {
        readonly entries: readonly Entry[];
        /** Micro-euros, null for no limit; absent if unchanged. */
        readonly budget?: number | null;
      };
    }
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly Settlement[] } }
  /** A charge needs no place, ignores limits and happens once for each name, as the cost of a replay. Micro-euros. */
  | { readonly type: "Charged"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  | { readonly type: "Released"; readonly data: { readonly entries: readonly Release[] } }
  /** Each threshold (percent) is recorded once a ledger, with the places that reach it. Micro-euros. */
  | {
      readonly type: "BudgetThresholdReached";
      readonly data: { readonly threshold: number; readonly used: number; readonly limit: number };
    }
  | { readonly type: "LedgerClosed"; readonly data: { readonly at: number } };

export type LedgerCheckpoint = {
  readonly revision: number;
  /** The first revision whose places are still in the window. */
  readonly window_from: number;
  readonly settled: number;
  readonly overrun: number;
  readonly reservation: number;
  readonly closed?: true;
  /** Absent without a budget; `reached` also before the first threshold. */
  readonly budget?: number;
  readonly reached?: number;
  readonly charged?: readonly string[];
  readonly settled_count: number;
  readonly last_at: number;
  /** Event, cost, at, reservations, revision, and the number of places unless it is one. */
  readonly open: readonly (readonly [string, number, number, readonly number[], number, number?])[];
};
