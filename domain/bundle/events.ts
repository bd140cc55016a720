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

/** The action that takes a step back, as the step's own action had it when the bundle was decided. */
export type Compensation = {
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
  /** The undo of an approved bundle is sent to this target. Missing where no approval was needed. */
  readonly bound?: Bound;
};

/** One step as it was decided on: what becomes of the action's definition afterwards changes nothing here. */
export type Step = {
  readonly index: number;
  /** Of the delivery that carries it; its undo has one of its own. */
  readonly event_id: string;
  readonly undo_event_id: string;
  readonly action: RequestedAction;
  readonly endpoint_id: string;
  readonly reversibility: Reversibility;
  /** Of a compensable step, and of a reversible one whose action names one. */
  readonly compensation: Compensation | null;
  /** Its payload uses results of earlier steps: its gates are asked again once these are known. */
  readonly uses_results: boolean;
  /** Micro-euros; null when no cost could be or had to be determined. */
  readonly cost: number | null;
  /** Of a bundle that needs an approval: the step is sent to this target only. Missing where none was needed. */
  readonly bound?: Bound;
};

/** What was decided on, the same for every decision. Times are ISO-8601 UTC. */
export type BundleRequest = {
  readonly bundle_id: string;
  readonly name: string | null;
  /** The agent. */
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
  /** Micro-euros of all steps; null when no cost could be or had to be determined. */
  readonly cost: number | null;
  /** The ledgers in which it holds places until `BundleCostDetermined`. */
  readonly ledgers?: readonly string[];
  readonly received_at: string;
  readonly at: string;
};

export type HeldBundle = BundleRequest & { readonly approval: HeldFor };

/** The same as `HeldAgain` for a bundle that has not begun. One that has begun rolls back instead. */
export type BundleHeldAgain = HeldBundle & { readonly previous: ReplacedApproval; readonly held_at: string };

/**
 * The one undo outcome of each started step that is not committed. `not-needed`: it did nothing, or leaves nothing that has
 * to be taken back; `impossible`: it may have done something that nothing takes back.
 */
export type UndoOutcome = "compensated" | "not-needed" | "failed" | "impossible";

/** Why a step was never sent. */
export type StepRefusal = { readonly code: string; readonly detail: string };

type About = { readonly bundle_id: string; readonly at: string };

/** Stream `bundle-<id>`. */
export type BundleEvent =
  | { readonly type: "BundleAdmitted"; readonly data: BundleRequest }
  | { readonly type: "BundleBlocked"; readonly data: BundleRequest }
  /** Nothing is started until a person approves; keeps its places. */
  | { readonly type: "BundleHeld"; readonly data: HeldBundle }
  /** What its approval was bound to has changed: nothing is started until people approve of what would be sent now. */
  | { readonly type: "BundleHeldAgain"; readonly data: BundleHeldAgain }
  /** Fences a crashed or very slow admission, so that its places can be given back. */
  | { readonly type: "BundleAbandoned"; readonly data: About }
  /** Uses the approval and begins the execution in one record. */
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
  /** Written before the step's delivery: with it its undo is registered. The delivery is made of this record alone. */
  | {
      readonly type: "StepStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /** Its payload could not be made of the earlier results, or a gate refused what it was made to. It never starts. */
  | {
      readonly type: "StepRefused";
      readonly data: About & { readonly index: number } & StepRefusal;
    }
  /**
   * `cost`: micro-euros that its delivery has cost; null when nothing of it has reached its target. `reported`: its target
   * has said so. `never_sent`: it was cancelled before any attempt.
   */
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
  /** From here on no step starts. */
  | {
      readonly type: "RollbackStarted";
      readonly data: About & {
        readonly reason: string;
        /** Of the step that failed; null when somebody asked for it. */
        readonly index: number | null;
      };
    }
  /** As `StepStarted`, of the step's undo. */
  | {
      readonly type: "UndoStarted";
      readonly data: About & { readonly index: number; readonly event_id: string; readonly payload: PayloadRef };
    }
  /**
   * One for each started step, in reverse order of their start. `cost`: of the undo, below zero what it gives back; null when
   * there was none to pay.
   */
  | {
      readonly type: "StepUndone";
      readonly data: About & {
        readonly index: number;
        readonly outcome: UndoOutcome;
        readonly cost: number | null;
      };
    }
  /** `reason`: of one that was to be rolled back, that this came too late, and why it was. */
  | { readonly type: "BundleCommitted"; readonly data: About & { readonly reason?: string } }
  | { readonly type: "BundleRolledBack"; readonly data: About }
  /** `left`: the steps that somebody has to take back by hand. */
  | { readonly type: "RollbackIncomplete"; readonly data: About & { readonly left: readonly number[] } }
  /** A person says that they have taken the step back. */
  | {
      readonly type: "StepResolved";
      readonly data: About & { readonly index: number; readonly by: string; readonly comment: string };
    }
  /** Written before the streams are removed, its own and those of its steps' and undos' events: a repeat makes it true. */
  | {
      readonly type: "BundlePayloadErased";
      readonly data: About & { readonly reason: string; readonly up_to?: ErasedUpTo };
    }
  /** As `PayloadDamageFound`, of the payload that holds those of all steps. */
  | { readonly type: "BundlePayloadDamageFound"; readonly data: About & { readonly revision: number } }
  /**
   * In the append that ends it, so that the ledgers can be settled by this record alone. `cost` null: nothing has reached
   * anybody, so what was reserved is given back. `steps`: each with its undo, null for one that was never sent; left out
   * where none was ever begun. Money in micro-euros.
   */
  | {
      readonly type: "BundleCostDetermined";
      readonly data: About & {
        readonly ledgers: readonly string[];
        readonly estimate: number | null;
        readonly cost: number | null;
        readonly steps?: readonly (number | null)[];
      };
    };
