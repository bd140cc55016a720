/** `cost` is in micro-euros, `at` in ms since 1970. `places` is absent for one; `reservation` counts from 1. */
export type Entry = {
  readonly event: string;
  readonly cost: number;
  readonly at: number;
  readonly places?: number;
  readonly reservation: number;
};

/** Spends the event's place if a reservation up to number `up_to` holds it. `cost` may exceed the reserved cost. */
export type Settlement = { readonly event: string; readonly cost: number; readonly up_to: number };

/** A request gives back its own `reservation`; after a crash all reservations up to number `up_to` are given back. */
export type Release = { readonly event: string } & ({ readonly reservation: number } | { readonly up_to: number });

/**
 * `carried`: times of yesterday's places that are still in the window, each in ms since the previous one, so that they
 * fit into one append at any rate. `counts`: how many places at each time, absent if one each.
 */
export type Carried = { readonly carried: readonly number[]; readonly counts?: readonly number[] };

/** Stream `ledger-<policy>-<day>`, or one for a month's quota, a kind of slots, a day's bytes or a loop (`loop.ts`). */
export type LedgerEvent =
  | { readonly type: "LedgerOpened"; readonly data: Carried }
  | {
      readonly type: "Reserved";
      readonly data: {
        readonly entries: readonly Entry[];
        /** The limit of the budget in micro-euros, null without one; absent if it is unchanged. */
        readonly budget?: number | null;
      };
    }
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly Settlement[] } }
  /** A charge needs no place, ignores limits and happens once for each `event`, as a replay's cost. Micro-euros. */
  | { readonly type: "Charged"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  | { readonly type: "Released"; readonly data: { readonly entries: readonly Release[] } }
  /** Each threshold (percent of the budget) is recorded once a ledger, in the append that reaches it. Micro-euros. */
  | {
      readonly type: "BudgetThresholdReached";
      readonly data: { readonly threshold: number; readonly used: number; readonly limit: number };
    }
  | { readonly type: "LedgerClosed"; readonly data: { readonly at: number } };

export type LedgerCheckpoint = {
  readonly revision: number;
  /** The first revision with places that are in the window; the records from there on are folded again. */
  readonly window_from: number;
  readonly settled: number;
  readonly overrun: number;
  readonly reservation: number;
  readonly closed?: true;
  /** `budget` is absent if there is none, `reached` before the first threshold. */
  readonly budget?: number;
  readonly reached?: number;
  readonly charged?: readonly string[];
  readonly settled_count: number;
  readonly last_at: number;
  /** Tuples of event, micro-euros, ms since 1970, numbers of reservations, revision, and places unless it is one. */
  readonly open: readonly (readonly [string, number, number, readonly number[], number, number?])[];
};
