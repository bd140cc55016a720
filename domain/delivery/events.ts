import type { Target } from "../endpoint/target.ts";
import type { Commitment } from "../evidence/commitment.ts";
import type { Verdict } from "../gate/verdict.ts";
import type { Reason, Words } from "../personal/words.ts";
import type { AttemptEnd, Failure } from "./attempt-end.ts";

export type Origin = {
  readonly kind: "source" | "agent" | "system";
  readonly id: string;
  readonly name: string;
  /** The provider of a source; for an agent "agent", for the system "notification". */
  readonly type: string;
};

/** The commitment to a payload, and what is said of it beside. `size` and `commitment` are those of the whole body. */
export type PayloadRef = Omit<Commitment, "id"> & {
  /** Absent if only the beginning of the body is stored, of which `head` is the commitment, with the same salt. */
  readonly id?: string;
  readonly head?: Commitment;
  /** The commitment to the headers that came with the body, as JSON in their order; absent if there were none. */
  readonly headers?: Commitment;
  readonly revision: number;
  readonly content_type: string;
  /** The body's content coding, such as "gzip" (RFC 9110, section 8.4); absent without one. */
  readonly content_encoding?: string;
};

export type RequestedAction = {
  readonly name: string;
  readonly version: number;
  /** Hex HMAC over account, agent, action, version, target, payload and place in the bundle (`actionDigest`). */
  readonly digest: string;
};

/** `depth`: how many agents called each other before this request. */
export type Run = { readonly id: string | null; readonly depth: number };

export type BundleStep = { readonly id: string; readonly index: number; readonly undo: boolean };

/** `failed`: the receiver refused the request or cannot have got it. `unknown`: the receiver may have executed it. */
export type StepOutcome = "succeeded" | "failed" | "unknown";

export type Replayer = { readonly kind: "member" | "key"; readonly id: string };

export type Replay = { readonly id: string; readonly by: Replayer; readonly reason: Words | null };

/** An approval is bound to this target and action, as they were when it was requested. */
export type Bound = {
  readonly target: Target | null;
  /** The action's version when the approval was asked for, or null; the request names the version that decided it. */
  readonly action_version: number | null;
  /** The template of that version (`domain/action/title.ts`), which the digest covers; absent if it has none. */
  readonly title?: string;
};

/** The service made the event at the request of this member or key, as a provider would have sent it. */
export type Sample = { readonly by: Replayer };

export type Request = {
  readonly event_id: string;
  readonly origin: Origin;
  /** The sender's id for this delivery (`src/providers/provider-schemes.ts`), or a random one. */
  readonly delivery_key: string;
  /** The provider's event type, as "payment_intent.succeeded", or an agent's action; empty if there is none. */
  readonly type: string;
  readonly payload: PayloadRef;
  readonly endpoint_id: string | null;
  readonly verdict: Verdict;
  /** Micro-euros; null if no cost had to be determined, or none could be. */
  readonly cost: number | null;
  readonly action?: RequestedAction;
  readonly run?: Run;
  readonly bundle?: BundleStep;
  /** Ledgers in which the request has places until `CostDetermined`; absent if its admission has spent them. */
  readonly ledgers?: readonly string[];
  readonly replay?: Replay;
  /** Absent if a sender sent it. A sample counts for neither the quota nor the bill. */
  readonly sample?: Sample;
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
  /** Ids of the members who count as the requester (`src/approvals/requesters.ts`). */
  readonly requesters: readonly string[];
};

export type HeldRequest = Request & { readonly approval: HeldFor };

/** `used`: the replaced approval had released the request before the request was held again. */
export type ReplacedApproval = { readonly approval_id: string; readonly digest: string; readonly used: boolean };

export type HeldAgain = HeldRequest & { readonly previous: ReplacedApproval; readonly held_at: string };

export type HoldOutcome = "rejected" | "expired" | "cancelled";

export type DeliveryEvent =
  | { readonly type: "EventAdmitted"; readonly data: Request }
  | { readonly type: "EventBlocked"; readonly data: Request }
  | { readonly type: "EventHeld"; readonly data: HeldRequest }
  | { readonly type: "EventHeldAgain"; readonly data: HeldAgain }
  /** This record both uses up the approval and starts the delivery, so an approval is executed once. */
  | {
      readonly type: "EventReleased";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly digest: string;
        /** Repeated from the request, as other fields here, so that views need no other record. */
        readonly origin_kind: Origin["kind"];
        readonly endpoint_id: string | null;
        readonly sample?: true;
        readonly observed: boolean;
        readonly held_at: string;
        readonly attempts?: number;
        readonly replay_id?: string;
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
        readonly reason: Reason;
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** The outcome of the attempt under way is awaited, and no other attempt follows. */
  | {
      readonly type: "CancellationRequested";
      readonly data: { readonly event_id: string; readonly reason: Reason; readonly at: string };
    }
  | {
      readonly type: "EventCancelled";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly attempts: number;
        readonly reason: Reason;
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
        readonly reason: Words | null;
        /** Repeated from the delivery, so that views need no other record. `attempts`: those before this replay. */
        readonly attempts: number;
        readonly admitted_at: string;
        /** What an agent's replayed request has reserved, in place of these fields of its `Request`. */
        readonly cost?: number | null;
        readonly ledgers?: readonly string[];
        /** Micro-euros spent before this replay, which stay counted; absent if nothing had reached the receiver. */
        readonly counted?: number;
        readonly at: string;
      };
    }
  /** Settles the places in `ledgers`, when a source's event is released or a delivery ends. Micro-euros. */
  | {
      readonly type: "CostDetermined";
      readonly data: {
        readonly event_id: string;
        readonly ledgers: readonly string[];
        readonly estimate: number | null;
        /** Null if nothing can have reached the receiver: the places are released. */
        readonly cost: number | null;
        readonly basis: "reported" | "estimate" | "not-reached";
        /** What was counted before the replay; `cost` is charged on top of it, without a place. */
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
  /** A slower admission conflicts with this record, so that the places of a dead request can be given back. */
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
        /** The attempt is made while the circuit is open, and the retry schedule does not count it. */
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
  /** The payload's stream is erased after this record, so that a crash only delays the erasure. */
  | {
      readonly type: "PayloadErased";
      readonly data: {
        readonly event_id: string;
        readonly reason: Reason;
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
