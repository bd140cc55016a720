/**
 * A place taken in a ledger, by the event (or source, or bundle) it is for. `cost` in micro-euros, `at` in ms since 1970.
 * `places`: so many, of a bundle with so many steps; left out for one.
 */
export type Entry = { readonly event: string; readonly cost: number; readonly at: number; readonly places?: number };

/**
 * When places were taken on the day before that still count in the sliding minute. The first number is in ms since 1970,
 * each further one the ms since the one before it. `counts` says how many places were taken at each, left out for one
 * each: so it is never more than a minute's milliseconds long, and fits into one append at any rate.
 */
export type Carried = { readonly carried: readonly number[]; readonly counts?: readonly number[] };

/**
 * Streams `ledger-<policy>-<day>`, `ledger-<account>-<month>` (quota), `ledger-<account>-sources`, and of loop limits
 * `ledger-<policy>.same-<seconds>-<digest>` and `ledger-<policy>.run-<run>` (`loop.ts`).
 */
export type LedgerEvent =
  /** The first record of a day. */
  | { readonly type: "LedgerOpened"; readonly data: Carried }
  | {
      readonly type: "Reserved";
      readonly data: {
        readonly entries: readonly Entry[];
        /** Micro-euros: what the policy lets a day cost from here on, null for any amount; left out where that stays as it is. */
        readonly budget?: number | null;
      };
    }
  /** `cost` is what was really spent, which may be more than was reserved: it counts all the same. */
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  /**
   * Spent without a place and whatever limit there is, as it is spent already, each name once a ledger: of a replay, what it
   * has cost on top. Micro-euros.
   */
  | { readonly type: "Charged"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  /** `all`: whoever held it (a crash); else one of those that reserved it gives its part back. */
  | { readonly type: "Released"; readonly data: { readonly entries: readonly { event: string; all?: true }[] } }
  /**
   * In the append whose places bring it about, each once a ledger: what is reserved and settled (`used`) is for the first
   * time so many percent of the budget (`limit`). Both in micro-euros.
   */
  | {
      readonly type: "BudgetThresholdReached";
      readonly data: { readonly threshold: number; readonly used: number; readonly limit: number };
    }
  /** Nothing is reserved here any more: the next day is open. */
  | { readonly type: "LedgerClosed"; readonly data: { readonly at: number } };

/** Stream `checkpoint-<ledger stream>`: the fold of a ledger at a revision, so that opening a long one is quick. */
export type LedgerCheckpoint = {
  readonly revision: number;
  /** The first revision whose places are still in the sliding minute. */
  readonly window_from: number;
  readonly settled: number;
  /** Missing in those of earlier builds, where nothing was settled for more than it had reserved. */
  readonly overrun?: number;
  /** These two missing as well where no threshold can be reached: the budget, and the highest threshold reached. */
  readonly budget?: number;
  readonly reached?: number;
  /** Missing where nothing was charged: the names of what was. */
  readonly charged?: readonly string[];
  /** Places. */
  readonly settled_count: number;
  readonly last_at: number;
  /** Every open place: event, cost, at, holders, revision, and its places unless it is one. */
  readonly open: readonly (readonly [string, number, number, number, number, number?])[];
};
