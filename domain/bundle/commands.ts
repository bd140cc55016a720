import type { HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { BundleRequest, StepRefusal } from "./events.ts";

/** Each carries its time, ISO-8601 UTC with milliseconds. */
export type BundleCommand =
  | { readonly type: "Admit"; readonly request: BundleRequest }
  | { readonly type: "Block"; readonly request: BundleRequest }
  | { readonly type: "Hold"; readonly request: BundleRequest; readonly approval: HeldFor }
  /** The same as the command of a delivery; `request` has what its steps are bound to now. */
  | {
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly request: BundleRequest;
      readonly approval: HeldFor;
      readonly at: string;
    }
  | { readonly type: "Abandon"; readonly bundleId: string; readonly at: string }
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Of the end of an approval, or, without its id, of whatever it is held for. */
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
    }
  | { readonly type: "StartStep"; readonly index: number; readonly payload: PayloadRef; readonly at: string }
  | { readonly type: "RefuseStep"; readonly index: number; readonly refusal: StepRefusal; readonly at: string }
  | {
      readonly type: "EndStep";
      readonly index: number;
      readonly outcome: StepOutcome;
      readonly cost: number | null;
      /** Its target has said so. */
      readonly reported?: true;
      /** It was cancelled before any attempt. */
      readonly neverSent?: true;
      readonly at: string;
    }
  | { readonly type: "StartUndo"; readonly index: number; readonly payload: PayloadRef; readonly at: string }
  /** `outcome` of the undo's delivery; below zero its `cost` is what it gives back. */
  | {
      readonly type: "EndUndo";
      readonly index: number;
      readonly outcome: StepOutcome;
      readonly cost: number | null;
      readonly at: string;
    }
  /** Ends a hold; of a running one rolls back what it has done. */
  | { readonly type: "Cancel"; readonly reason: string; readonly at: string }
  | {
      readonly type: "Resolve";
      readonly index: number;
      /** The member. */
      readonly by: string;
      readonly comment: string;
      readonly at: string;
    };

/**
 * Of a command of the process manager that comes a second time, `not-next`: what it would do was done. `nothing-to-resolve`:
 * the step was taken back, or did nothing.
 */
export type BundleRejection =
  | "already-decided"
  | "not-found"
  | "not-held"
  | "digest-mismatch"
  | "already-ended"
  | "not-next"
  | "nothing-to-resolve";

export type CommandOf<T extends BundleCommand["type"]> = Extract<BundleCommand, { type: T }>;
