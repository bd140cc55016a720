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
 * Stream `controls-<account>`: one stream decides all changes of controls, so that two at once are decided one after
 * the other. A record here comes before the change in the part's own stream.
 */
export type ControlsEvent =
  | { readonly type: "ControlsChanged"; readonly data: Changed }
  /** Asked for on the machine: from `effective_at` on the policy is unprotected, unless the lift is cancelled. */
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
  /** The first change that the lift let through follows in the same append. */
  | {
      readonly type: "ProtectionLifted";
      readonly data: {
        readonly account: string;
        readonly policy_id: string;
        readonly effective_at: string;
        readonly at: string;
      };
    }
  /** Parts that were recorded as changed but whose own streams never got the change. */
  | {
      readonly type: "ControlsCorrected";
      readonly data: { readonly account: string; readonly parts: readonly PartChange[]; readonly at: string };
    }
  /** `freed`: held changes that are over, whose places are free. */
  | {
      readonly type: "HeldChangePlaced";
      readonly data: {
        readonly account: string;
        readonly change_id: string;
        readonly freed: readonly string[];
        readonly at: string;
      };
    }
  /** A person weakened controls. `reasons` are sentences. */
  | { readonly type: "ControlsWeakened"; readonly data: Changed & { readonly reasons: readonly string[] } };
