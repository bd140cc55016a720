import type { Target } from "../endpoint/target.ts";
import type { Verdict } from "../gate/verdict.ts";
import type { AttemptEnd, Failure } from "./attempt-end.ts";

export type Origin = {
  readonly kind: "source" | "agent" | "system";
  readonly id: string;
  readonly name: string;
  /** The provider of a source, else "agent" or "notification". */
  readonly type: string;
};

export type PayloadRef = {
  readonly revision: number;
  readonly content_type: string;
  /** As "gzip" (RFC 9110, section 8.4). */
  readonly content_encoding?: string;
  readonly size: number;
  /** Hex SHA-256 over salt and body. The salt is stored and erased with the payload. */
  readonly sha256: string;
  readonly head?: PayloadHead;
};

export type PayloadHead = { readonly size: number; readonly sha256: string };

export type RequestedAction = {
  readonly name: string;
  readonly version: number;
  /** Hex SHA-256 over the canonical form (RFC 8785) of agent, action, target and payload. */
  readonly digest: string;
};

/** `depth`: how many agents called each other before this request. */
export type Run = { readonly id: string | null; readonly depth: number };

export type BundleStep = { readonly id: string; readonly index: number; readonly undo: boolean };

/** `failed`: the receiver refused or cannot have got the request. `unknown`: it may have executed it. */
export type StepOutcome = "succeeded" | "failed" | "unknown";

export type Replayer = { readonly kind: "member" | "key"; readonly id: string };

export type Replay = { readonly id: string; readonly by: Replayer; readonly reason: string | null };

/** An approval is bound to this target and action, as they were when it was requested. */
export type Bound = {
  readonly target: Target | null;
  /** The version in force, or null without an action. The request names the version that decided it. */
  readonly action_version: number | null;
};

export type Request = {
  readonly event_id: string;
  readonly origin: Origin;
  /** The sender's id for this delivery (`src/providers/provider-schemes.ts`), or a random one. */
  readonly delivery_key: string;
  /** The provider's event type, as "payment_intent.succeeded"; empty if it has none. */
  readonly type: string;
  readonly payload: PayloadRef;
  readonly endpoint_id: string | null;
  readonly verdict: Verdict;
  /** Micro-euros; null if no cost could be or had to be determined. */
  readonly cost: number | null;
  readonly action?: RequestedAction;
  readonly run?: Run;
  readonly bundle?: BundleStep;
  /** Ledgers with a place of this request until `CostDetermined`; absent if its admission has settled them. */
  readonly ledgers?: readonly string[];
  readonly replay?: Replay;
  /** An approved request is sent to this target only; absent if no approval was needed. */
  readonly bound?: Bound;
  readonly received_at: string;
  readonly authenticated_at: string;
  readonly at: string;
};

export type HeldFor = {
  readonly approval_id: string;
  readonly digest: string;
  readonly min_approvals: number;
  readonly exclude_requester: boolean;
  readonly expires_at: string;
  readonly reasons: readonly string[];
  readonly member?: string;
  /** Members who count as the requester (`src/approvals/requesters.ts`). */
  readonly requesters: readonly string[];
};

export type HeldRequest = Request & { readonly approval: HeldFor };

/** `used`: the replaced approval had released the request. */
export type ReplacedApproval = { readonly approval_id: string; readonly digest: string; readonly used: boolean };

export type HeldAgain = HeldRequest & { readonly previous: ReplacedApproval; readonly held_at: string };

export type HoldOutcome = "rejected" | "expired" | "cancelled";

export type DeliveryEvent =
  | { readonly type: "EventAdmitted"; readonly data: Request }
  | { readonly type: "EventBlocked"; readonly data: Request }
  | { readonly type: "EventHeld"; readonly data: HeldRequest }
  | { readonly type: "EventHeldAgain"; readonly data: HeldAgain }
  /** One record uses the approval and starts the execution, so an approval is executed once. */
  | {
      readonly type: "EventReleased";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly digest: string;
        /** This repeats the request, so that views need no other record. */
        readonly origin_kind: Origin["kind"];
        readonly endpoint_id: string | null;
        readonly observed: boolean;
        readonly held_at: string;
        readonly attempts?: number;
        readonly at: string;
      };
    }
  /** An attempt from before the hold has succeeded, so the approval is no longer needed. */
  | {
      readonly type: "HoldWithdrawn";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly endpoint_id: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "HoldEnded";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly outcome: HoldOutcome;
        readonly reason: string;
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** An attempt is under way and its outcome is awaited: no other attempt follows. */
  | {
      readonly type: "CancellationRequested";
      readonly data: { readonly event_id: string; readonly reason: string; readonly at: string };
    }
  | {
      readonly type: "EventCancelled";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly attempts: number;
        readonly reason: string;
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "EventReplayed";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly replay_id: string;
        readonly by: Replayer;
        readonly reason: string | null;
        /** Repeated from the delivery, so that views need no other record. `attempts`: before this replay. */
        readonly attempts: number;
        readonly admitted_at: string;
        /** Reserved by an agent's request from now on, as in `Request`. */
        readonly cost?: number | null;
        readonly ledgers?: readonly string[];
        /** Micro-euros that stay counted from before; absent if nothing had reached the receiver. */
        readonly counted?: number;
        readonly at: string;
      };
    }
  /** This record comes with the delivery's end and settles its ledgers. Money is in micro-euros. */
  | {
      readonly type: "CostDetermined";
      readonly data: {
        readonly event_id: string;
        readonly ledgers: readonly string[];
        readonly estimate: number | null;
        /** Null if nothing can have reached the receiver: the reservation is released. */
        readonly cost: number | null;
        readonly basis: "reported" | "estimate" | "not-reached";
        /** The amount counted before the replay: `cost` is added to it, without a place. */
        readonly counted?: number;
        readonly replay_id?: string;
        readonly policy_ids?: readonly string[];
        readonly at: string;
      };
    }
  /** `cost`: micro-euros; null if nothing can have reached the receiver, negative if an undo gives something back. */
  | {
      readonly type: "BundleStepEnded";
      readonly data: {
        readonly event_id: string;
        readonly bundle: BundleStep;
        readonly outcome: StepOutcome;
        readonly cost: number | null;
        readonly reported?: true;
        readonly never_sent?: true;
        readonly at: string;
      };
    }
  /** Fences an admission that crashed or is very slow, so that its reservations can be released. */
  | { readonly type: "AdmissionAbandoned"; readonly data: { readonly event_id: string; readonly at: string } }
  | {
      readonly type: "DuplicatesCounted";
      readonly data: { readonly event_id: string; readonly count: number; readonly at: string };
    }
  | {
      readonly type: "DeliveryIdReused";
      readonly data: { readonly event_id: string; readonly count: number; readonly at: string };
    }
  | {
      readonly type: "AttemptStarted";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly number: number;
        readonly trigger: "auto" | "replay";
        readonly node: string;
        readonly lease_until: string;
        readonly target?: Target;
        /** The schedule does not count a probe of an endpoint whose circuit is open. */
        readonly probe?: true;
        readonly at: string;
      };
    }
  | { readonly type: "AttemptSucceeded"; readonly data: AttemptEnd & { readonly status_code: number } }
  | {
      readonly type: "AttemptFailed";
      readonly data: AttemptEnd & {
        readonly failure: Failure;
        readonly retryable: boolean;
        readonly next_attempt_at: string | null;
      };
    }
  | {
      readonly type: "EventDelivered";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        /** The time of admission, release or replay; the status page shows the time from then to `at`. */
        readonly admitted_at: string;
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "DeliveryFailed";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly failure: Failure;
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** This record precedes the erasure of the payload's stream, so that a repeat after a crash completes it. */
  | {
      readonly type: "PayloadErased";
      readonly data: {
        readonly event_id: string;
        readonly reason: string;
        readonly up_to: ErasedUpTo;
        readonly at: string;
      };
    }
  /** The stored payload does not match its hash: it is neither shown nor sent. */
  | {
      readonly type: "PayloadDamageFound";
      readonly data: {
        readonly event_id: string;
        readonly revision: number;
        readonly at: string;
      };
    };

/** The last revision of the payload's stream when its erasure was decided; null if it was empty. */
export type ErasedUpTo = number | null;
