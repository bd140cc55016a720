import type { ErasedUpTo, HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { Reason, Words } from "../personal/words.ts";
import type { BundleRequest, StepRefusal, UndoOutcome } from "./events.ts";

/** `payload` is stored in `payload-<event>`, the stream of the step's or the undo's own event. */
export type Start = { readonly startedAt: string; readonly payload: PayloadRef };

type Ended = Start & {
  readonly outcome: StepOutcome;
  /** Micro-euros; null if nothing can have reached the target. */
  readonly cost: number | null;
  readonly isReported: boolean;
  readonly isNeverSent: boolean;
};

/** `cost`: micro-euros, or null if nothing was paid. `start`: null if nothing had to be sent. */
type Undone = { readonly outcome: UndoOutcome; readonly cost: number | null; readonly start: Start | null };

type Resolution = { readonly by: string; readonly comment: Words; readonly at: string };

export type StepState =
  | { readonly phase: "pending" }
  | { readonly phase: "refused"; readonly refusal: StepRefusal }
  | (Start & { readonly phase: "running" })
  | (Ended & { readonly phase: "ended" })
  | (Ended & { readonly phase: "undoing"; readonly undoStart: Start })
  | (Ended & { readonly phase: "undone"; readonly undo: Undone })
  | (Ended & { readonly phase: "resolved"; readonly undo: Undone; readonly resolution: Resolution });

/** Null as long as nothing of the step can have been sent. */
export const startOf = (step: StepState | undefined): Start | null =>
  step !== undefined && "startedAt" in step ? step : null;

export const refusalOf = (step: StepState | undefined): StepRefusal | null =>
  step?.phase === "refused" ? step.refusal : null;

export const resolutionOf = (step: StepState | undefined): Resolution | null =>
  step?.phase === "resolved" ? step.resolution : null;

export const undoStartOf = (step: StepState | undefined): Start | null => {
  if (step?.phase === "undoing") return step.undoStart;
  return step !== undefined && "undo" in step ? step.undo.start : null;
};

export type BundleEnd = "committed" | "rolled_back" | "rollback_incomplete";

/** When the request first came in, if it was blocked then and decided again later. */
export type FirstReceipt = { readonly firstReceivedAt?: string };

export type HeldBundleState = FirstReceipt & {
  readonly phase: "held";
  readonly request: BundleRequest;
  readonly approval: HeldFor;
  readonly heldAt: string;
};

export type RunningBundle = FirstReceipt & {
  readonly phase: "running";
  readonly request: BundleRequest;
  /** When the bundle was admitted, or released from its hold. */
  readonly admittedAt: string;
  readonly approvalId: string | null;
  readonly steps: readonly StepState[];
  /** `index` is the step that failed or was refused; null for a cancellation. */
  readonly rollback: { readonly reason: Reason; readonly index: number | null; readonly at: string } | null;
  /** The reason of a cancellation that came too late. */
  readonly tooLate?: Reason;
  readonly end: BundleEnd | null;
  readonly endedAt: string | null;
  /** The final cost in micro-euros; null if nothing was charged, absent until the bundle has ended. */
  readonly spent?: number | null;
};

type AbandonedBundle = { readonly phase: "abandoned"; readonly erasedUpTo: ErasedUpTo };
/** A blocked request that comes again is decided again. */
type BlockedBundle = FirstReceipt & {
  readonly phase: "blocked";
  readonly refused: BundleRequest;
  readonly erasedUpTo: ErasedUpTo;
};
/** The hold ended without a release: no step was started, and none will be. */
type StoppedBundle = FirstReceipt & {
  readonly phase: "stopped";
  readonly request: BundleRequest;
  readonly approval: HeldFor;
  readonly outcome: HoldOutcome;
  readonly reason: Reason;
  readonly at: string;
  readonly spent?: number | null;
};

/** The request of a claimed bundle is never decided a second time. */
type ClaimedBundle = HeldBundleState | StoppedBundle | RunningBundle;
export type Bundle = { readonly phase: "absent" } | AbandonedBundle | BlockedBundle | ClaimedBundle;

export const isClaimed = (state: Bundle): state is ClaimedBundle =>
  state.phase === "held" || state.phase === "stopped" || state.phase === "running";

export const requestOf = (state: Bundle): BundleRequest | null => {
  if (isClaimed(state)) return state.request;
  return state.phase === "blocked" ? state.refused : null;
};

export const erasedUpTo = (state: Bundle): ErasedUpTo =>
  state.phase === "abandoned" || state.phase === "blocked" ? state.erasedUpTo : null;
