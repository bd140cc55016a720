import { type Decider, reject } from "../decider.ts";
import type { HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { BundleCommand, BundleRejection } from "./commands.ts";
import type { BundleEvent, BundleRequest, StepRefusal, UndoOutcome } from "./events.ts";

/** What became of one step. Times are ISO-8601 UTC, money is in micro-euros. */
export type StepState = {
  /** Null as long as nothing of it can have been sent. */
  readonly startedAt: string | null;
  /** What it is sent, in `payload-<event>`. */
  readonly payload: PayloadRef | null;
  /** `refused`: it was never sent. */
  readonly outcome: StepOutcome | "refused" | null;
  readonly refusal: StepRefusal | null;
  /** Of its delivery; null when that was for nothing. */
  readonly cost: number | null;
  /** `payload` is set with the start of its delivery, if it needs one. */
  readonly undo: {
    readonly payload: PayloadRef | null;
    readonly outcome: UndoOutcome | null;
    readonly cost: number | null;
  };
  /** Of a person who has taken it back by hand. */
  readonly resolution: { readonly by: string; readonly comment: string; readonly at: string } | null;
};

export type BundleEnd = "committed" | "rolled_back" | "rollback_incomplete";

export type HeldBundleState = {
  readonly phase: "held";
  readonly request: BundleRequest;
  readonly approval: HeldFor;
};

export type RunningBundle = {
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
  readonly end: BundleEnd | null;
  readonly endedAt: string | null;
  /** Micro-euros that it has cost in the end; null when it was for nothing, missing until it has ended. */
  readonly spent?: number | null;
};

export type Bundle =
  | { readonly phase: "absent" }
  /** Blocked, or abandoned half-way: may be decided again. */
  | { readonly phase: "undecided"; readonly last: BundleRequest | null }
  | HeldBundleState
  /** Nothing of it was started, and nothing will be. */
  | {
      readonly phase: "ended-hold";
      readonly request: BundleRequest;
      readonly approval: HeldFor;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
      readonly spent?: number | null;
    }
  | RunningBundle;

/** Stream `bundle-<id>`. */
export const bundle: Decider<Bundle, BundleCommand, BundleEvent, BundleRejection> = {
  initial: { phase: "absent" },
  evolve: (state) => state,
  decide: () => reject("not-found"),
};
