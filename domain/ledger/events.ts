/**
 * One reservation of a place in a ledger, for an event (or a source, or a bundle). `cost` in micro-euros, `at` in ms since
 * 1970. `places`: as how many the place counts, which is more than one for a bundle with several steps; left out for one.
 * `reservation` is the number of this reservation: each one in a ledger's stream has the next number, from 1 on.
 */
export type Entry = {
  readonly event: string;
  readonly cost: number;
  readonly at: number;
  readonly places?: number;
  readonly reservation: number;
};

/**
 * A settlement applies to the place if a reservation with this number or a lower one holds it. The place is spent as a
 * whole then. `cost` in micro-euros is what was really spent, which may be more than was reserved: it counts all the same.
 */
export type Settlement = { readonly event: string; readonly cost: number; readonly up_to: number };

/**
 * Names the reservations that are given back: a request gives back exactly its own; after a crash all of those are given
 * back that were known when the log was asked what became of the event, so that a later one keeps the place.
 */
export type Release = { readonly event: string } & ({ readonly reservation: number } | { readonly up_to: number });

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
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly Settlement[] } }
  /**
   * Spent without a place and whatever limit there is, as it is spent already, each name once a ledger: of a replay, what it
   * has cost on top. Micro-euros.
   */
  | { readonly type: "Charged"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  | { readonly type: "Released"; readonly data: { readonly entries: readonly Release[] } }
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
  readonly overrun: number;
  /** The number of the newest reservation; 0 before the first. */
  readonly reservation: number;
  /** Missing as long as the day is open. */
  readonly closed?: true;
  /** These two are missing where no threshold can be reached: the budget, and the highest threshold reached. */
  readonly budget?: number;
  readonly reached?: number;
  /** Missing where nothing was charged: the names of what was. */
  readonly charged?: readonly string[];
  /** Places. */
  readonly settled_count: number;
  readonly last_at: number;
  /** Every open place: event, cost, at, the numbers of its reservations, revision, and its places unless it is one. */
  readonly open: readonly (readonly [string, number, number, readonly number[], number, number?])[];
};
