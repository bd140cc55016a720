import type { Target } from "../endpoint/target.ts";
import type { AttemptEnd, Bound, Failure, HeldFor, HoldOutcome, Replay, Request } from "./events.ts";

/** The process that wants to act on a delivery for which another process may hold a lease. */
export type Claimant = {
  readonly node: string;
  /** Every other process is known to be gone, so its lease is over. */
  readonly othersAreGone: boolean;
  readonly at: string;
};

export type DeliveryCommand =
  | { readonly type: "Admit"; readonly request: Request }
  | { readonly type: "Block"; readonly request: Request }
  | { readonly type: "Abandon"; readonly eventId: string; readonly at: string }
  | { readonly type: "Hold"; readonly request: Request; readonly approval: HeldFor }
  /**
   * What an approval of it is bound to is no longer what would be sent. `bound`: what the new one is bound to. `approvalId`:
   * the approval that this was found for; if it is another one by now, nothing is left to do.
   */
  | ({
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly bound: Bound;
      readonly approval: HeldFor;
    } & Claimant)
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Of the end of an approval, or, without its id, of whatever it is held for. */
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
    }
  /**
   * Ends it wherever it stands; of an attempt that runs the outcome is awaited. `underWay`: this process is sending it, so
   * its lease is not over, whatever a clock that was set says.
   */
  | { readonly type: "Cancel"; readonly reason: string; readonly at: string; readonly underWay?: boolean }
  | ({
      readonly type: "StartAttempt";
      readonly endpointId: string;
      /** Where it would be sent; without it nothing starts that an approval has bound to a target. */
      readonly target?: Target;
      readonly trigger: "auto" | "replay";
      readonly leaseUntil: string;
      /** Also before it is due: to find out how its endpoint is, or in its turn once that is well again. */
      readonly early?: "probe" | "turn";
    } & Claimant)
  | { readonly type: "Succeed"; readonly end: AttemptEnd & { readonly status_code: number } }
  | {
      readonly type: "Fail";
      readonly end: AttemptEnd;
      readonly failure: Failure;
      readonly retryable: boolean;
      /** Null when no attempt follows. */
      readonly nextAttemptAt: string | null;
    }
  /**
   * Ends a delivery for which nothing can be sent. Refused as "leased" while another attempt may still succeed. `inReplay`:
   * the replay, null for none, in which that was found; refused if the event was replayed since. Left out: not compared.
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

/** Begins a failed delivery anew, under the same webhook-id. */
export type ReplayCommand = {
  readonly type: "Replay";
  readonly replay: Replay;
  /** Taken again for a request that had given its places back; null where none has to be. Cost in micro-euros. */
  readonly places: { readonly ledgers: readonly string[]; readonly cost: number | null } | null;
  readonly at: string;
};

export type ReplayRejection =
  /** Not decided, or blocked: that has to pass the gates again. */
  | "not-admitted"
  | "already-delivered"
  | "in-progress"
  /** Ended by people or by time, or with nowhere to go. */
  | "not-failed"
  | "of-bundle"
  | "payload-erased"
  | "too-often"
  /** Nothing of it has reached its receiver, so its cost was given back. */
  | "places-needed";

export type CommandOf<T extends DeliveryCommand["type"]> = Extract<DeliveryCommand, { type: T }>;
