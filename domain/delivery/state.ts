import type { Reached } from "./cost.ts";
import type { Erased } from "./erased.ts";
import type { HeldFor, HoldOutcome, Replay, Request, StepOutcome } from "./events.ts";

/** What is known of a replay that is under way, or was the last. */
export type Replaying = Replay & {
  readonly at: string;
  /** Attempts that had begun before it: the endpoint's schedule is counted from here. */
  readonly before: number;
  /** Micro-euros that its receiver was paid for before, which stay spent; null when nothing had reached one. */
  readonly counted: number | null;
};

/** What a delivery says of the replays that it was in. */
export type InReplays = {
  /** Their ids, oldest first; missing for none. */
  readonly replays?: readonly string[];
};

type Lease = { readonly number: number; readonly node: string; readonly until: string };

/** The terms of an approval, and when it was asked for. */
export type Hold = { readonly approval: HeldFor; readonly heldAt: string };

export type HeldDelivery = InReplays & {
  readonly phase: "held";
  readonly request: Request;
  readonly approval: HeldFor;
  /** ISO-8601 UTC. */
  readonly heldAt: string;
  /** The delivery as it was when it was held again at an attempt; missing where it was never released. */
  readonly before?: AdmittedDelivery;
  /** The same as in an admitted delivery. */
  readonly paid?: Paid;
  readonly erased: boolean;
};

/** What a bundle's step came to, and what it has cost in micro-euros; missing as long as it has not ended, and of what is no step. */
export type StepEnd = {
  readonly outcome: StepOutcome;
  readonly cost: number | null;
  /** The receiver has said so. */
  readonly reported?: true;
  /** It was cancelled before any attempt. */
  readonly neverSent?: true;
};

/** What was spent of the places that it held, which stays so whatever is replayed later. Micro-euros. */
export type Paid = { readonly ledgers: readonly string[]; readonly cost: number };

export type AdmittedDelivery = InReplays & {
  readonly phase: "admitted";
  readonly request: Request;
  /** Later than the request was decided on when it had to be released. */
  readonly admittedAt: string;
  /** The approval that released it; null when none was needed. */
  readonly approvalId: string | null;
  /** What `approvalId` was asked for with; missing without an approval. */
  readonly hold?: Hold;
  /** The approvals that had released it before that one, as it was held again; missing for none. */
  readonly usedApprovals?: readonly string[];
  readonly attempts: number;
  /** How many of them were probes since it was admitted or replayed: these use nothing of its schedule up. */
  readonly probes?: number;
  /** Set between the start of an attempt and its end; past `until` its outcome is unknown and it may be tried again. */
  readonly lease: Lease | null;
  /** When the next attempt is due; null once there is none to come. */
  readonly dueAt: string | null;
  readonly end: "recorded" | "delivered" | "failed" | null;
  /** There is nothing left to send. */
  readonly erased: boolean;
  /** Why nothing may follow the attempt that runs; null as long as it may. */
  readonly cancelling: string | null;
  /** Whether the receiver may have got it; null as long as that is out of the question. */
  readonly reached: Reached | null;
  /** An attempt has ended that may have done what it was asked, and nobody knows. */
  readonly mayBeDone: boolean;
  /** Micro-euros that it has cost in the end; null when it was for nothing, missing until it is known here. */
  readonly spent?: number | null;
  /** Missing as long as no place was spent. */
  readonly paid?: Paid;
  readonly stepEnd?: StepEnd;
  /** The last replay, as long as it was not decided on again. */
  readonly replay?: Replaying;
};

/** Blocked, or abandoned half-way: may be decided again. */
type Undecided = InReplays & {
  readonly phase: "undecided";
  readonly last: Request | null;
  /** What of its payloads must not be used again; missing for nothing. */
  readonly erasedUpTo?: Erased;
};

export type Delivery =
  | { readonly phase: "absent" }
  | Undecided
  | HeldDelivery
  /** Without having been delivered, by people or by time: whatever is asked of it, nothing is sent any more. */
  | (InReplays & {
      readonly phase: "ended";
      readonly request: Request;
      readonly end: HoldOutcome;
      /** The approval that had released it before; null when none had. */
      readonly approvalId: string | null;
      /** The same as in an admitted delivery. */
      readonly usedApprovals?: readonly string[];
      /** The approval for which it was held when it ended; missing where it was not. */
      readonly heldFor?: string;
      /** Begun before it was cancelled. */
      readonly attempts: number;
      /** These two as of an admitted one. */
      readonly spent?: number | null;
      readonly paid?: Paid;
      readonly stepEnd?: StepEnd;
      /** Micro-euros that its receiver was paid for before the replay in which it was cancelled; missing for none. */
      readonly counted?: number;
    })
  | AdmittedDelivery;

export const UNDECIDED: Undecided = { phase: "undecided", last: null };

/** Up to where the payloads of what is decided anew must not be used. */
export const erasedUpTo = (state: Delivery): Erased =>
  state.phase === "undecided" ? (state.erasedUpTo ?? null) : null;

/** Decided for good: it is never decided a second time, whoever sends it again. */
export const isClaimed = ({ phase }: Delivery): boolean =>
  phase === "held" || phase === "admitted" || phase === "ended";
