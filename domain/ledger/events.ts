/** A place taken in a ledger, by the event (or source) it is for. `cost` in micro-euros, `at` in ms since 1970. */
export type Entry = { readonly event: string; readonly cost: number; readonly at: number };

/** Streams `ledger-<policy>-<day>`, `ledger-<account>-<month>` (quota) and `ledger-<account>-sources`. */
export type LedgerEvent =
  /** The first record of a day: what of the day before still counts in the sliding minute. */
  | { readonly type: "LedgerOpened"; readonly data: { readonly carried: readonly Entry[] } }
  | { readonly type: "Reserved"; readonly data: { readonly entries: readonly Entry[] } }
  /** `cost` is what was really spent. */
  | { readonly type: "Settled"; readonly data: { readonly entries: readonly { event: string; cost: number }[] } }
  /** `all`: whoever held it (a crash); else one of those that reserved it gives its part back. */
  | { readonly type: "Released"; readonly data: { readonly entries: readonly { event: string; all?: true }[] } }
  /** Nothing is reserved here any more: the next day is open. */
  | { readonly type: "LedgerClosed"; readonly data: { readonly at: number } };
