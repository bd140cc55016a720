import type { HeldFor, HoldOutcome, PayloadRef, StepOutcome } from "../delivery/events.ts";
import type { Reason, Words } from "../personal/words.ts";
import type { BundleRequest, StepRefusal } from "./events.ts";

export type BundleCommand =
  | { readonly type: "Admit"; readonly request: BundleRequest }
  | { readonly type: "Block"; readonly request: BundleRequest }
  | { readonly type: "Hold"; readonly request: BundleRequest; readonly approval: HeldFor }
  /** A target or action has changed since the hold: `request` has the present ones, for which `approval` asks. */
  | {
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly request: BundleRequest;
      readonly approval: HeldFor;
      readonly at: string;
    }
  | { readonly type: "Abandon"; readonly bundleId: string; readonly at: string }
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Without `approvalId` the command ends the hold, whichever approval the hold waits for. */
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: Reason;
      readonly at: string;
    }
  | { readonly type: "StartStep"; readonly index: number; readonly payload: PayloadRef; readonly at: string }
  | { readonly type: "RefuseStep"; readonly index: number; readonly refusal: StepRefusal; readonly at: string }
  | {
      readonly type: "EndStep";
      readonly index: number;
      readonly outcome: StepOutcome;
      readonly cost: number | null;
      readonly reported?: true;
      readonly neverSent?: true;
      readonly at: string;
    }
  | { readonly type: "StartUndo"; readonly index: number; readonly payload: PayloadRef; readonly at: string }
  /** A negative `cost` is an amount that the undo gives back. */
  | {
      readonly type: "EndUndo";
      readonly index: number;
      readonly outcome: StepOutcome;
      readonly cost: number | null;
      readonly at: string;
    }
  | { readonly type: "Cancel"; readonly reason: Reason; readonly at: string }
  | {
      readonly type: "Resolve";
      readonly index: number;
      readonly by: string;
      readonly comment: Words;
      readonly at: string;
    };

/** `not-next`: the command was carried out before. `nothing-to-resolve`: the step left nothing to undo by hand. */
export type BundleRejection =
  | "already-decided"
  | "not-found"
  | "not-held"
  | "digest-mismatch"
  | "already-ended"
  | "not-next"
  | "nothing-to-resolve";

export type CommandOf<T extends BundleCommand["type"]> = Extract<BundleCommand, { type: T }>;
