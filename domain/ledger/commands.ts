/** An absent limit does not apply. `budget` is in micro-euros; `rate` counts places in the window, `count` all. */
export type Limits = {
  readonly budget?: number | undefined;
  readonly rate?: number | undefined;
  readonly count?: number;
};

export type LedgerCommand =
  | {
      readonly type: "Reserve";
      readonly event: string;
      readonly cost: number;
      readonly places?: number;
      readonly limits: Limits;
    }
  /** Without `cost` the reserved cost is spent. `upTo`: only if a reservation up to this number holds the place. */
  | { readonly type: "Settle"; readonly event: string; readonly cost?: number; readonly upTo?: number }
  | { readonly type: "Charge"; readonly event: string; readonly cost: number }
  | { readonly type: "Release"; readonly event: string; readonly reservation: number }
  | { readonly type: "Release"; readonly event: string; readonly upTo: number };
