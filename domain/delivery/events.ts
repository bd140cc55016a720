import type { Target } from "../endpoint/target.ts";
import type { Verdict } from "../gate/verdict.ts";

/** Where an event came from; of a notification of this system's own the id and the name are what it is called. */
export type Origin = {
  readonly kind: "source" | "agent" | "system";
  readonly id: string;
  readonly name: string;
  /** The provider type of a source; "agent" for an agent; "notification" for the system's own. */
  readonly type: string;
};

export type PayloadRef = {
  /** Which revision of `payload-<event>` was decided on. */
  readonly revision: number;
  readonly content_type: string;
  /** The codings that the body came in, as "gzip" (RFC 9110, section 8.4); absent when it came in none. */
  readonly content_encoding?: string;
  /** Bytes. */
  readonly size: number;
  /** Hex SHA-256 over salt and body: the salt lies beside the payload and goes with it. */
  readonly sha256: string;
  /** There where only the first bytes of a refused body are stored: their hash, over the same salt. */
  readonly head?: PayloadHead;
};

/** `size`: bytes that are stored. `sha256`: hex, over salt and these bytes. */
export type PayloadHead = { readonly size: number; readonly sha256: string };

/** The body that was received, of which only the first bytes are stored. `size`: bytes. `sha256`: hex, erased with it. */
type ResponseHead = { readonly size: number; readonly sha256: string };

/** What an agent asked for. */
export type RequestedAction = {
  readonly name: string;
  /** Of the action's definition at that time. */
  readonly version: number;
  /** Hex SHA-256 over the canonical form (RFC 8785) of all that it is: who asks what of whom with which payload. */
  readonly digest: string;
};

/** `depth`: how many agents called each other before this one was called; the receiver is told one more. */
export type Run = { readonly id: string | null; readonly depth: number };

/** Which step of a bundle an event carries, or takes back. */
export type BundleStep = { readonly id: string; readonly index: number; readonly undo: boolean };

/**
 * What its receiver made of it: `failed`: it refused, or cannot have got it; `unknown`: it may have done what it was asked
 * in an attempt that nobody has seen the end of.
 */
export type StepOutcome = "succeeded" | "failed" | "unknown";

/** Who has something sent again: a person, or a program with the account's key. */
export type Replayer = { readonly kind: "member" | "key"; readonly id: string };

/** One replay, of one event or of many at once. */
export type Replay = { readonly id: string; readonly by: Replayer; readonly reason: string | null };

/** An approval is bound to these besides the request itself, as they were when it was asked for. */
export type Bound = {
  /** Null without an endpoint, or where it was deleted. */
  readonly target: Target | null;
  /** The version of the action that was in force; null without an action. The request itself names the one it was decided by. */
  readonly action_version: number | null;
};

/** What was decided on, the same for every decision. Times are ISO-8601 UTC. */
export type Request = {
  readonly event_id: string;
  readonly origin: Origin;
  /** The sender's name for this delivery (`src/providers/table.ts` says where it is found), or the random one made for it. */
  readonly delivery_key: string;
  /** The provider's event type, as "payment_intent.succeeded"; empty when it has none. */
  readonly type: string;
  readonly payload: PayloadRef;
  readonly endpoint_id: string | null;
  readonly verdict: Verdict;
  /** Micro-euros; null when no cost could be or had to be determined. */
  readonly cost: number | null;
  /** These two of an agent's request alone. */
  readonly action?: RequestedAction;
  readonly run?: Run;
  /** Of a bundle's step, whose places the bundle holds. */
  readonly bundle?: BundleStep;
  /** The ledgers in which it holds a place until `CostDetermined`; missing where its admission has settled them. */
  readonly ledgers?: readonly string[];
  /** Of a blocked event that was not sent again but replayed. */
  readonly replay?: Replay;
  /** Of a request that needs an approval: it is sent to this target only. Missing where none was needed. */
  readonly bound?: Bound;
  readonly received_at: string;
  readonly authenticated_at: string;
  readonly at: string;
};

/** What a person has to say yes to before anything is sent, as the policy had it when the request was held. */
export type HeldFor = {
  readonly approval_id: string;
  /** Hex SHA-256 of what would be executed. */
  readonly digest: string;
  readonly min_approvals: number;
  readonly exclude_requester: boolean;
  readonly expires_at: string;
  /** Why, in sentences. */
  readonly reasons: readonly string[];
  /** The member who replays it; missing when no person did. */
  readonly member?: string;
  /** Ids of the members who count as the requester (`src/approvals/requesters.ts`). */
  readonly requesters: readonly string[];
};

export type HeldRequest = Request & { readonly approval: HeldFor };

/** The approval that a new one replaces. `used`: the request was released by it before. */
export type ReplacedApproval = { readonly approval_id: string; readonly digest: string; readonly used: boolean };

/** `held_at`: when it was held again; `at` stays the time of the decision. */
export type HeldAgain = HeldRequest & { readonly previous: ReplacedApproval; readonly held_at: string };

/** Why a hold ended without a release. */
export type HoldOutcome = "rejected" | "expired" | "cancelled";

export type FailureKind =
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "reset"
  | "response-too-large"
  | "redirect"
  | "blocked-address"
  | "http-4xx"
  | "http-5xx"
  | "invalid-response"
  | "endpoint-deleted"
  | "target-changed"
  | "payload-erased"
  | "payload-damaged";

export type Failure = { readonly kind: FailureKind; readonly detail: string };

/** Milliseconds. A reused connection has 0 for dns, connect and tls; first_byte is null when none came. */
export type Timings = {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly first_byte: number | null;
  readonly total: number;
};

/** The end of one attempt, whichever. Response headers and body are kept in `payload-<event>` (`ResponseKept`). */
export type AttemptEnd = {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly number: number;
  readonly at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly timings_ms: Timings;
  /**
   * Micro-euros that the receiver of an agent's request says it cost, below zero what an undo gives back; null when it said
   * something that is no amount.
   */
  readonly cost_reported?: number | null;
  /** It went out once before, on a kept-alive connection that ended without an answer: that may have had its effect. */
  readonly resent?: true;
  /** Its time was up, or it was given up, before there was a connection to send it on. */
  readonly unsent?: true;
  /** It went to the target that an approval had recorded, which its endpoint has left since: it says nothing of the endpoint. */
  readonly elsewhere?: true;
};

export type DeliveryEvent =
  | { readonly type: "EventAdmitted"; readonly data: Request }
  | { readonly type: "EventBlocked"; readonly data: Request }
  /** Nothing is sent until a person approves; keeps its reservation. */
  | { readonly type: "EventHeld"; readonly data: HeldRequest }
  /** What its approval was bound to has changed: nothing is sent until people approve of what would be sent now. */
  | { readonly type: "EventHeldAgain"; readonly data: HeldAgain }
  /** Uses the approval and begins the execution in one record: approved once is executed once. */
  | {
      readonly type: "EventReleased";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly digest: string;
        /** These again, so that views need no other record to count and to queue it. */
        readonly origin_kind: Origin["kind"];
        readonly endpoint_id: string | null;
        readonly observed: boolean;
        /** When it was held first, and took its places. */
        readonly held_at: string;
        /** Attempts begun before it was held again; missing where it was not released before. */
        readonly attempts?: number;
        readonly at: string;
      };
    }
  /** An attempt of before it was held again has succeeded after all: nobody has to decide any more. */
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
        /** Of the replay that it was held in. */
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** During an attempt, whose outcome is awaited: no other follows. */
  | {
      readonly type: "CancellationRequested";
      readonly data: { readonly event_id: string; readonly reason: string; readonly at: string };
    }
  | {
      readonly type: "EventCancelled";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        /** How many had begun: none of them is known to have succeeded, each may have reached the receiver. */
        readonly attempts: number;
        readonly reason: string;
        /** Of the replay that it was in. */
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** A failed delivery begins anew under the same webhook-id: due at once, the endpoint's schedule from its beginning. */
  | {
      readonly type: "EventReplayed";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        readonly replay_id: string;
        readonly by: Replayer;
        readonly reason: string | null;
        /** These two again, so that views need no other record to queue it: attempts begun before it. */
        readonly attempts: number;
        readonly admitted_at: string;
        /** Of an agent's request, as in `Request`: what it reserves from now on. */
        readonly cost?: number | null;
        readonly ledgers?: readonly string[];
        /** Micro-euros that it was counted for before, which stay counted; missing when nothing had reached its receiver. */
        readonly counted?: number;
        readonly at: string;
      };
    }
  /** In the append that ends it, so that the ledgers can be settled by this record alone. Money in micro-euros. */
  | {
      readonly type: "CostDetermined";
      readonly data: {
        readonly event_id: string;
        readonly ledgers: readonly string[];
        /** What was reserved; null when it could not be determined and nothing limits it. */
        readonly estimate: number | null;
        /** Null: nothing can have reached the receiver, so what was reserved is given back. */
        readonly cost: number | null;
        readonly basis: "reported" | "estimate" | "not-reached";
        /** Of a replay: what was counted before it and stays so. `cost` is what comes on top, which no place was taken for. */
        readonly counted?: number;
        readonly replay_id?: string;
        /** The policies whose budgets pay for it. */
        readonly policy_ids?: readonly string[];
        readonly at: string;
      };
    }
  /**
   * Of a bundle's step or undo, last in the append that ends it, instead of `CostDetermined`. `cost`: micro-euros; null:
   * nothing can have reached the receiver. `reported`: the receiver has said so; of an undo that may be less than nothing,
   * what it gives back. What was refused costs nothing else. `never_sent`: it was cancelled before any attempt.
   */
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
  /** Fences a crashed or very slow admission, so that its reservation can be given back. */
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
        /** The process that holds the lease, and until when no other may try. */
        readonly node: string;
        readonly lease_until: string;
        /** The target of an approved request, to which this attempt goes; missing where no approval was needed. */
        readonly target?: Target;
        /** It finds out whether its endpoint, whose circuit is open, is well again: its schedule does not count it. */
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
        /** Null when this was the last one. */
        readonly next_attempt_at: string | null;
      };
    }
  | {
      readonly type: "EventDelivered";
      readonly data: {
        readonly event_id: string;
        readonly endpoint_id: string;
        /** When it was admitted, released or replayed: the time between the two is what the status page shows. */
        readonly admitted_at: string;
        /** Of the replay that it was delivered in. */
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
        /** Of the replay that it failed in. */
        readonly replay_id?: string;
        readonly at: string;
      };
    }
  /** Written before the payload's stream is removed: what a crash leaves half done is seen, and done by the repeat. */
  | {
      readonly type: "PayloadErased";
      readonly data: {
        readonly event_id: string;
        readonly reason: string;
        readonly up_to?: ErasedUpTo;
        readonly at: string;
      };
    }
  /** What is stored does not match `sha256` of the decision: it is neither shown nor sent. Once for each payload. */
  | {
      readonly type: "PayloadDamageFound";
      readonly data: {
        readonly event_id: string;
        /** Of `payload-<event>`. */
        readonly revision: number;
        readonly at: string;
      };
    };

/**
 * The last revision of the payload's stream when its erasure was decided, null for an empty one: what was kept behind it
 * belongs to whoever is decided behind the erasure. Missing in old records, which took all that was there.
 */
export type ErasedUpTo = number | null;

/** Stream `payload-<event>`: the only kind that retention or an erasure request removes. */
export type PayloadEvent =
  /** Belongs to the `PayloadKept` that names its revision; one that none names was left by a crash or a lost race. */
  | {
      readonly type: "PayloadPartKept";
      readonly data: { readonly event_id: string; readonly encoding: "text" | "base64"; readonly body: string };
    }
  | {
      readonly type: "PayloadKept";
      readonly data: {
        readonly event_id: string;
        /** Base64, 16 bytes. */
        readonly salt: string;
        readonly content_type: string;
        /** As `PayloadRef` has it; not how `body` is written down here. */
        readonly content_encoding?: string;
        /** "text" when the body is UTF-8 that survives the round trip, else "base64". */
        readonly encoding: "text" | "base64";
        readonly body: string;
        /** Of a long body: the revisions of its beginning (`PayloadPartKept`), in order; `body` is its end. */
        readonly parts?: readonly number[];
        /** The request's headers with secrets and signatures redacted. */
        readonly headers: Readonly<Record<string, string>>;
      };
    }
  | {
      readonly type: "ResponseKept";
      readonly data: {
        readonly event_id: string;
        readonly number: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly encoding: "text" | "base64";
        readonly body: string;
        /** Not all of what the receiver answered is stored. */
        readonly truncated: boolean;
        /** Only where the account's `stored_bytes_day` was used up, so that less was stored than otherwise. */
        readonly head?: ResponseHead;
        /** The headers that were sent, with secrets redacted. */
        readonly request_headers: Readonly<Record<string, string>>;
      };
    };
