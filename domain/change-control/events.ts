import type { PartChange, PartKind, Parts } from "./configuration.ts";

type Changed = {
  readonly account: string;
  readonly change: PartChange;
  readonly before: Parts[PartKind] | null;
  readonly by: string;
  readonly at: string;
};

type Lift = {
  readonly account: string;
  readonly policy_id: string;
  readonly effective_at: string;
  readonly at: string;
};

/**
 * The stream `controls-<account>` decides all changes of an account's controls, so that of two at once the later one
 * sees the earlier. A record here precedes the change in the part's own stream.
 */
export type ControlsEvent =
  | { readonly type: "ControlsChanged"; readonly data: Changed }
  /** From `effective_at` on the policy is unprotected, unless a person cancels the lift before that time. */
  | { readonly type: "ProtectionLiftRequested"; readonly data: Lift }
  | {
      readonly type: "ProtectionLiftCancelled";
      readonly data: { readonly account: string; readonly policy_id: string; readonly by: string; readonly at: string };
    }
  /** The first change that the lift lets through follows in the same append. */
  | { readonly type: "ProtectionLifted"; readonly data: Lift }
  /** Sets these parts to what their own streams say, which never got the change that was recorded here. */
  | {
      readonly type: "ControlsCorrected";
      readonly data: { readonly account: string; readonly parts: readonly PartChange[]; readonly at: string };
    }
  | {
      readonly type: "HeldChangePlaced";
      readonly data: {
        readonly account: string;
        readonly change_id: string;
        readonly freed: readonly string[];
        readonly at: string;
      };
    }
  | { readonly type: "ControlsWeakened"; readonly data: Changed & { readonly reasons: readonly string[] } };
