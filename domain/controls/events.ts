import type { PartChange, PartKind, Parts } from "./configuration.ts";

type Changed = {
  readonly account: string;
  readonly change: PartChange;
  readonly before: Parts[PartKind] | null;
  /** The id of the member or key that asked for the change. */
  readonly by: string;
  readonly at: string;
};

/**
 * Stream `controls-<account>`: all that decides who reaches what with which approvals, in one stream, so that two changes at
 * once are decided one after the other. Each record comes before the record of the change itself.
 */
export type ControlsEvent =
  | { readonly type: "ControlsChanged"; readonly data: Changed }
  /** Asked for on the machine: from `effective_at` on the policy is not protected any more, unless that is cancelled. */
  | {
      readonly type: "ProtectionLiftRequested";
      readonly data: {
        readonly account: string;
        readonly policy_id: string;
        readonly effective_at: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "ProtectionLiftCancelled";
      readonly data: { readonly account: string; readonly policy_id: string; readonly by: string; readonly at: string };
    }
  /** The first change that the end of a protection let through: it comes with the record of that change. */
  | {
      readonly type: "ProtectionLifted";
      readonly data: {
        readonly account: string;
        readonly policy_id: string;
        readonly effective_at: string;
        readonly at: string;
      };
    }
  /** Parts that were recorded as changed, and whose own streams never got the change: they are as their own streams say. */
  | {
      readonly type: "ControlsCorrected";
      readonly data: { readonly account: string; readonly parts: readonly PartChange[]; readonly at: string };
    }
  /** One of the account's places for held changes. `freed`: the changes whose places are free, as they are over. */
  | {
      readonly type: "HeldChangePlaced";
      readonly data: {
        readonly account: string;
        readonly change_id: string;
        readonly freed: readonly string[];
        readonly at: string;
      };
    }
  /** A person has weakened controls. `reasons`: in sentences, which and how. */
  | { readonly type: "ControlsWeakened"; readonly data: Changed & { readonly reasons: readonly string[] } };
