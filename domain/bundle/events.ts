import type { Reversibility } from "../action/definition.ts";
import type {
  Bound,
  ErasedUpTo,
  HeldFor,
  HoldOutcome,
  Origin,
  PayloadRef,
  ReplacedApproval,
  RequestedAction,
  Run,
  StepOutcome,
} from "../delivery/events.ts";
import type { Verdict } from "../gate/verdict.ts";

export type Compensation = {
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
  readonly bound?: Bound;
};

/** Later changes of the action do not apply to a step. */
export type Step = {
  readonly index: number;
  /** The step and its undo are deliveries with an id each. */
  readonly event_id: string;
  readonly undo_event_id: string;
  readonly action: RequestedAction;
  readonly endpoint_id: string;
  readonly reversibility: Reversibility;
  readonly compensation: Compensation | null;
  /** The payload uses results of earlier steps: its gates are asked again once these are known. */
  readonly uses_results: boolean;
  /** Micro-euros; null if no cost could be or had to be determined. */
  readonly cost: number | null;
  readonly bound?: Bound;
};

/** Times are ISO-8601 UTC. */
export type BundleRequest = {
  readonly bundle_id: string;
  readonly name: string | null;
  readonly origin: Origin;
  /** The Idempotency-Key. */
  readonly key: string;
  readonly steps: readonly Step[];
  readonly run: Run;
  /** All steps' payloads as one JSON array, in `payload-<bundle>`. */
  readonly payload: PayloadRef;
  /** Hex SHA-256 over the canonical form (RFC 8785) of all steps in their order. */
  readonly digest: string;
  readonly verdict: Verdict;
  /** Micro-euros of all steps; null if no cost could be or had to be determined. */
  readonly cost: number | null;
  /** Ledgers with places of this bundle until `BundleCostDetermined`. */
  readonly ledgers?: readonly string[];
  readonly received_at: string;
  readonly at: string;
};

export type HeldBundle = BundleRequest & { readonly approval: HeldFor };

/** A bundle that has started is not held again: it rolls back. */
export type BundleHeldAgain = HeldBundle & { readonly previous: ReplacedApproval; readonly held_at: string };

/** `impossible`: the step may have had an effect that nothing takes back. */
export type UndoOutcome = "compensated" | "not-needed" | "failed" | "impossible";

export type StepRefusal = { readonly code: string; readonly detail: string };

type About = { readonly bundle_id: string; readonly at: string };

export type BundleEvent =
  | { readonly type: "BundleAdmitted"; readonly data: BundleRequest }
  | { readonly type: "BundleBlocked"; readonly data: BundleRequest }
  | { readonly type: "BundleHeld"; readonly data: HeldBundle }
  | { readonly type: "BundleHeldAgain"; readonly data: BundleHeldAgain }
  /** Fences a crashed or very slow admission, so that its places can be given back. */
  | { readonly type: "BundleAbandoned"; readonly data: About }
  | {
      readonly type: "BundleReleased";
      readonly data: About & { readonly approval_id: string; readonly digest: string };
    }
  | {
      readonly type: "BundleHoldEnded";
      readonly data: About & {
        readonly approval_id: string;
        readonly outcome: HoldOutcome;
        readonly reason: string;
      };
    }
  /** The step's delivery is made from this record alone, so all that is sent has a registered undo. */
  | {
      readonly type: "StepStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /** A gate refused the step, or its payload could not be made from the earlier results. */
  | {
      readonly type: "StepRefused";
      readonly data: About & { readonly index: number } & StepRefusal;
    }
  /** `cost`: micro-euros; null if nothing can have reached the target. `never_sent`: cancelled before any attempt. */
  | {
      readonly type: "StepEnded";
      readonly data: About & {
        readonly index: number;
        readonly event_id: string;
        readonly outcome: StepOutcome;
        readonly cost: number | null;
        readonly reported?: true;
        readonly never_sent?: true;
      };
    }
  /** No step starts after this. */
  | {
      readonly type: "RollbackStarted";
      readonly data: About & {
        readonly reason: string;
        /** The step that failed; null for a cancellation. */
        readonly index: number | null;
      };
    }
  | {
      readonly type: "UndoStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /** One for each started step, the last first. `cost`: of the undo, negative if it gives something back, or null. */
  | {
      readonly type: "StepUndone";
      readonly data: About & {
        readonly index: number;
        readonly outcome: UndoOutcome;
        readonly cost: number | null;
      };
    }
  /** `reason`: why a cancellation came too late. */
  | { readonly type: "BundleCommitted"; readonly data: About & { readonly reason?: string } }
  | { readonly type: "BundleRolledBack"; readonly data: About }
  /** `left`: the steps that people have to take back by hand. */
  | { readonly type: "RollbackIncomplete"; readonly data: About & { readonly left: readonly number[] } }
  | {
      readonly type: "StepResolved";
      readonly data: About & { readonly index: number; readonly by: string; readonly comment: string };
    }
  /** This record precedes the erasure of the bundle's streams, so that a repeat after a crash completes it. */
  | {
      readonly type: "BundlePayloadErased";
      readonly data: About & { readonly reason: string; readonly up_to: ErasedUpTo };
    }
  | { readonly type: "BundlePayloadDamageFound"; readonly data: About & { readonly revision: number } }
  /** This record comes with the bundle's end and settles its ledgers. Micro-euros; null if nothing was sent. */
  | {
      readonly type: "BundleCostDetermined";
      readonly data: About & {
        readonly ledgers: readonly string[];
        readonly estimate: number | null;
        readonly cost: number | null;
        readonly steps?: readonly (number | null)[];
      };
    };
