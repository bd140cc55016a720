import type { Erased } from "../delivery/erased.ts";
import type { HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { BundleRequest, StepRefusal, UndoOutcome } from "./events.ts";

/** What became of one step. Times are ISO-8601 UTC, money is in micro-euros. */
export type StepState = {
  /** Null as long as nothing of it can have been sent. */
  readonly startedAt: string | null;
  /** What it is sent, in `payload-<event>`. */
  readonly payload: PayloadRef | null;
  /** `refused`: it was never sent. */
  readonly outcome: StepOutcome | "refused" | null;
  readonly refusal: StepRefusal | null;
  /** Of its delivery; null when nothing of that has reached its target. */
  readonly cost: number | null;
  /** Its target has said what it cost. */
  readonly isReported: boolean;
  /** It was cancelled before any attempt. */
  readonly isNeverSent: boolean;
  /** `payload` is set with the start of its delivery, if it needs one. */
  readonly undo: {
    readonly payload: PayloadRef | null;
    readonly startedAt: string | null;
    readonly outcome: UndoOutcome | null;
    readonly cost: number | null;
  };
  /** Of a person who has taken it back by hand. */
  readonly resolution: { readonly by: string; readonly comment: string; readonly at: string } | null;
};

export type BundleEnd = "committed" | "rolled_back" | "rollback_incomplete";

/** When it was asked for first, where that was not with what was decided on: it was blocked before. */
export type Asked = { readonly firstAskedAt?: string };

export type HeldBundleState = Asked & {
  readonly phase: "held";
  readonly request: BundleRequest;
  readonly approval: HeldFor;
  /** ISO-8601 UTC. */
  readonly heldAt: string;
};

export type RunningBundle = Asked & {
  readonly phase: "running";
  readonly request: BundleRequest;
  /** When it was admitted or released. */
  readonly admittedAt: string;
  /** The approval that released it; null when none was needed. */
  readonly approvalId: string | null;
  /** One for each step of the request. */
  readonly steps: readonly StepState[];
  /** `index`: of the step that failed; null when somebody asked for it. */
  readonly rollback: { readonly reason: string; readonly index: number | null; readonly at: string } | null;
  /** Of a committed one that was to be rolled back, in a sentence with why it was. */
  readonly tooLate?: string;
  readonly end: BundleEnd | null;
  readonly endedAt: string | null;
  /** Micro-euros that it has cost in the end; null when it was for nothing, missing until it has ended. */
  readonly spent?: number | null;
};

/** Blocked, or abandoned half-way: may be decided again. */
type UndecidedBundle = Asked & {
  readonly phase: "undecided";
  readonly last: BundleRequest | null;
  /** What of its own payloads must not be used again; missing for nothing. */
  readonly erasedUpTo?: Erased;
};

export type Bundle =
  | { readonly phase: "absent" }
  | UndecidedBundle
  | HeldBundleState
  /** Nothing of it was started, and nothing will be. */
  | (Asked & {
      readonly phase: "ended-hold";
      readonly request: BundleRequest;
      readonly approval: HeldFor;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
      readonly spent?: number | null;
    })
  | RunningBundle;

export const UNDECIDED: UndecidedBundle = { phase: "undecided", last: null };

/** Up to where the payloads of what is decided anew must not be used. */
export const erasedUpTo = (state: Bundle): Erased => (state.phase === "undecided" ? (state.erasedUpTo ?? null) : null);

/** Decided for good: it is never decided a second time, whoever sends it again. */
export const isClaimed = ({ phase }: Bundle): boolean => phase !== "absent" && phase !== "undecided";
