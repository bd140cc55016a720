import type { Target } from "../endpoint/target.ts";
import type { AttemptEnd, Bound, Failure, HeldFor, HoldOutcome, Replay, Request } from "./events.ts";

/** A process that wants to act on a delivery which another process may hold a lease for. */
export type Claimant = {
  readonly node: string;
  /** No other process runs, so their leases are over. */
  readonly othersAreGone: boolean;
  readonly at: string;
};

export type DeliveryCommand =
  | { readonly type: "Admit"; readonly request: Request }
  | { readonly type: "Block"; readonly request: Request }
  | { readonly type: "Abandon"; readonly eventId: string; readonly at: string }
  | { readonly type: "Hold"; readonly request: Request; readonly approval: HeldFor }
  /**
   * The target or action that an approval is bound to has changed. If `approvalId` is no longer the current approval,
   * nothing happens.
   */
  | ({
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly bound: Bound;
      readonly approval: HeldFor;
    } & Claimant)
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Without an id it ends any hold. */
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
    }
  /**
   * Ends the delivery, or waits for the attempt that is under way. `underWay`: this process runs the attempt, so its
   * lease holds whatever the clock says.
   */
  | { readonly type: "Cancel"; readonly reason: string; readonly at: string; readonly underWay?: boolean }
  | ({
      readonly type: "StartAttempt";
      readonly endpointId: string;
      /** The endpoint's target. An approved delivery starts only if this is the approved one. */
      readonly target?: Target;
      readonly trigger: "auto" | "replay";
      readonly leaseUntil: string;
      /** Starts before it is due: as a probe of its endpoint, or in its order after the endpoint recovered. */
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
  /**
   * Ends a delivery of which nothing can be sent; refused while another attempt may succeed. `inReplay`: the replay in
   * which this was found, null for none: a later replay refuses it. Absent: not compared.
   */
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
  /** Reserved again for a request that had released its places; null if none are needed. Cost in micro-euros. */
  readonly places: { readonly ledgers: readonly string[]; readonly cost: number | null } | null;
  readonly at: string;
};

export type ReplayRejection =
  /** Blocked or not decided: it has to pass the gates. */
  | "not-admitted"
  | "already-delivered"
  | "in-progress"
  /** Ended by people or by time, or without an endpoint. */
  | "not-failed"
  | "of-bundle"
  | "payload-erased"
  | "too-often"
  /** Nothing has reached the receiver, so its places were released. */
  | "places-needed";

export type CommandOf<T extends DeliveryCommand["type"]> = Extract<DeliveryCommand, { type: T }>;
