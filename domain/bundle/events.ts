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
import type { Reason, Words } from "../personal/words.ts";

export type Compensation = {
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
  readonly bound?: Bound;
};

/** A step keeps its action as it was at the request: later changes of the action do not apply. */
export type Step = {
  readonly index: number;
  /** The step is the delivery `event_id`, and its undo the delivery `undo_event_id`. */
  readonly event_id: string;
  readonly undo_event_id: string;
  readonly action: RequestedAction;
  readonly endpoint_id: string;
  readonly reversibility: Reversibility;
  readonly compensation: Compensation | null;
  /** True: the payload uses results of earlier steps, so its gates are asked again once those are known. */
  readonly uses_results: boolean;
  /** Micro-euros; null if no cost had to be determined, or none could be. */
  readonly cost: number | null;
  readonly bound?: Bound;
};

/** Times are ISO-8601 UTC. */
export type BundleRequest = {
  readonly bundle_id: string;
  readonly name: string | null;
  readonly origin: Origin;
  /** The Idempotency-Key of the agent's request. */
  readonly key: string;
  readonly steps: readonly Step[];
  readonly run: Run;
  /** All steps' payloads as one JSON array, in the stream `payload-<bundle>`. */
  readonly payload: PayloadRef;
  /** Hex SHA-256 over account, agent and the digests of all steps in order (`bundleDigest`). */
  readonly digest: string;
  readonly verdict: Verdict;
  /** Micro-euros of all steps together; null if no cost had to be determined, or none could be. */
  readonly cost: number | null;
  /** Ledgers in which the bundle has places until `BundleCostDetermined`; absent without any. */
  readonly ledgers?: readonly string[];
  readonly received_at: string;
  readonly at: string;
};

export type HeldBundle = BundleRequest & { readonly approval: HeldFor };

/** The hold waits for a new approval in place of `previous`. A bundle that has started rolls back instead. */
export type BundleHeldAgain = HeldBundle & { readonly previous: ReplacedApproval; readonly held_at: string };

/** `not-needed`: nothing has to be undone. `impossible`: the step may have had an effect that nothing takes back. */
export type UndoOutcome = "compensated" | "not-needed" | "failed" | "impossible";

export type StepRefusal = { readonly code: string; readonly detail: string };

type About = { readonly bundle_id: string; readonly at: string };

export type BundleEvent =
  | { readonly type: "BundleAdmitted"; readonly data: BundleRequest }
  | { readonly type: "BundleBlocked"; readonly data: BundleRequest }
  | { readonly type: "BundleHeld"; readonly data: HeldBundle }
  | { readonly type: "BundleHeldAgain"; readonly data: BundleHeldAgain }
  /** A slower claim of the bundle conflicts with this record, so that a dead request's places can be given back. */
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
        readonly reason: Reason;
      };
    }
  /** The step's delivery is made from this record alone, so nothing is sent that a rollback does not know of. */
  | {
      readonly type: "StepStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /** A gate refused the step, or its payload could not be made from the results of earlier steps. */
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
  /** After this record no step of the bundle starts. */
  | {
      readonly type: "RollbackStarted";
      readonly data: About & {
        readonly reason: Reason;
        /** The step that failed or was refused; null for a cancellation. */
        readonly index: number | null;
      };
    }
  | {
      readonly type: "UndoStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /**
   * One for each started step, the last first. `cost`: the undo's micro-euros, negative if given back, or null. `gives_back`:
   * the step's own event, if the undo also gives back what that was estimated to cost; absent otherwise.
   */
  | {
      readonly type: "StepUndone";
      readonly data: About & {
        readonly index: number;
        readonly outcome: UndoOutcome;
        readonly cost: number | null;
        readonly gives_back?: string;
      };
    }
  /** `reason` names the cancellation that came too late to undo anything; absent without one. */
  | { readonly type: "BundleCommitted"; readonly data: About & { readonly reason?: Reason } }
  | { readonly type: "BundleRolledBack"; readonly data: About }
  /** `left` lists the indexes of the steps that people have to take back by hand. */
  | { readonly type: "RollbackIncomplete"; readonly data: About & { readonly left: readonly number[] } }
  | {
      readonly type: "StepResolved";
      readonly data: About & { readonly index: number; readonly by: string; readonly comment: Words };
    }
  /** The bundle's payload streams are erased after this record, so that a crash only delays the erasure. */
  | {
      readonly type: "BundlePayloadErased";
      readonly data: About & { readonly reason: Reason; readonly up_to: ErasedUpTo };
    }
  | { readonly type: "BundlePayloadDamageFound"; readonly data: About & { readonly revision: number } }
  /**
   * Recorded with the bundle's end; settles its places in `ledgers`. Micro-euros; null if nothing was sent. `events`: those of
   * the started steps, whose costs change no more.
   */
  | {
      readonly type: "BundleCostDetermined";
      readonly data: About & {
        readonly ledgers: readonly string[];
        readonly estimate: number | null;
        readonly cost: number | null;
        readonly steps?: readonly (number | null)[];
        readonly events?: readonly string[];
      };
    };
