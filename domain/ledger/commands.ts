/** Left out: no such limit. `budget` in micro-euros, `rate` within the ledger's window, `count` places in all. */
export type Limits = { readonly budget?: number; readonly rate?: number; readonly count?: number };

export type LedgerCommand =
  | {
      readonly type: "Reserve";
      readonly event: string;
      readonly cost: number;
      /** Left out: one. */
      readonly places?: number;
      readonly limits: Limits;
    }
  /** `cost` left out: the reserved cost. `upTo`: only if this reservation or an earlier one holds the place. */
  | { readonly type: "Settle"; readonly event: string; readonly cost?: number; readonly upTo?: number }
  | { readonly type: "Charge"; readonly event: string; readonly cost: number }
  /** Gives back one reservation, or with `upTo` that one and all before it. */
  | { readonly type: "Release"; readonly event: string; readonly reservation: number }
  | { readonly type: "Release"; readonly event: string; readonly upTo: number };
