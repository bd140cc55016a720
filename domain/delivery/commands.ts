import type { Target } from "../endpoint/target.ts";
import type { Reason } from "../personal/words.ts";
import type { AttemptEnd, Failure } from "./attempt-end.ts";
import type { Bound, HeldFor, HoldOutcome, Replay, Request } from "./events.ts";

export type Claimant = {
  readonly node: string;
  readonly othersAreGone: boolean;
  readonly at: string;
};

export type DeliveryCommand =
  | { readonly type: "Admit"; readonly request: Request }
  | { readonly type: "Block"; readonly request: Request }
  | { readonly type: "Abandon"; readonly eventId: string; readonly at: string }
  | { readonly type: "Hold"; readonly request: Request; readonly approval: HeldFor }
  /** If `approvalId` is no longer the current approval, the command changes nothing. */
  | ({
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly bound: Bound;
      readonly approval: HeldFor;
    } & Claimant)
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: Reason;
      readonly at: string;
    }
  /** `underWay`: this process runs the attempt, so the cancellation awaits it even if the lease has ended. */
  | { readonly type: "Cancel"; readonly reason: Reason; readonly at: string; readonly underWay?: boolean }
  | ({
      readonly type: "StartAttempt";
      readonly endpointId: string;
      readonly target?: Target;
      readonly trigger: "auto" | "replay";
      readonly leaseUntil: string;
      /** Allows a start before the due time: as a probe, or as the next in order after the endpoint has recovered. */
      readonly early?: "probe" | "turn";
    } & Claimant)
  | { readonly type: "Succeed"; readonly end: AttemptEnd & { readonly status_code: number } }
  | {
      readonly type: "Fail";
      readonly end: AttemptEnd;
      readonly failure: Failure;
      readonly retryable: boolean;
      readonly nextAttemptAt: string | null;
    }
  /** `inReplay`: the replay in which nothing could be sent, null without one; refused if a later replay has begun. */
  | ({ readonly type: "GiveUp"; readonly failure: Failure; readonly inReplay?: string | null } & Claimant)
  | ReplayCommand;

export type DeliveryRejection =
  | "already-admitted"
  | "not-admitted"
  | "not-held"
  | "digest-mismatch"
  | "already-ended"
  | "not-due"
  | "leased"
  | "payload-erased"
  | "lease-lost"
  | "target-changed"
  | ReplayRejection;

export type ReplayCommand = {
  readonly type: "Replay";
  readonly replay: Replay;
  /** The places reserved anew for a request whose places were released; null if no places were reserved. */
  readonly places: { readonly ledgers: readonly string[]; readonly cost: number | null } | null;
  readonly at: string;
};

export type ReplayRejection =
  | "not-admitted"
  | "already-delivered"
  | "in-progress"
  | "not-failed"
  | "of-bundle"
  | "payload-erased"
  | "too-often"
  | "places-needed";

export type CommandOf<T extends DeliveryCommand["type"]> = Extract<DeliveryCommand, { type: T }>;
