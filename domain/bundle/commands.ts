import type { HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { BundleRequest, StepRefusal } from "./events.ts";

/** Each carries its time, ISO-8601 UTC with milliseconds. */
export type BundleCommand =
  | { readonly type: "Admit"; readonly request: BundleRequest }
  | { readonly type: "Block"; readonly request: BundleRequest }
  | { readonly type: "Hold"; readonly request: BundleRequest; readonly approval: HeldFor }
  /** `request` has the targets and actions of now. */
  | {
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly request: BundleRequest;
      readonly approval: HeldFor;
      readonly at: string;
    }
  | { readonly type: "Abandon"; readonly bundleId: string; readonly at: string }
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Without an id it ends any hold. */
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
      /** The target reported the cost. */
      readonly reported?: true;
      readonly neverSent?: true;
      readonly at: string;
    }
  | { readonly type: "StartUndo"; readonly index: number; readonly payload: PayloadRef; readonly at: string }
  /** A negative `cost` is what the undo gives back. */
  | {
      readonly type: "EndUndo";
      readonly index: number;
      readonly outcome: StepOutcome;
      readonly cost: number | null;
      readonly at: string;
    }
  /** Ends a hold, or rolls back what has been done. */
  | { readonly type: "Cancel"; readonly reason: string; readonly at: string }
  | {
      readonly type: "Resolve";
      readonly index: number;
      readonly by: string;
      readonly comment: string;
      readonly at: string;
    };

/** `not-next`: the command was carried out before. `nothing-to-resolve`: the step was taken back, or did nothing. */
export type BundleRejection =
  | "already-decided"
  | "not-found"
  | "not-held"
  | "digest-mismatch"
  | "already-ended"
  | "not-next"
  | "nothing-to-resolve";

export type CommandOf<T extends BundleCommand["type"]> = Extract<BundleCommand, { type: T }>;
