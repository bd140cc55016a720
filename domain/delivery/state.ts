import type { Reached } from "./cost.ts";
import type { Erased } from "./erased.ts";
import type { HeldFor, HoldOutcome, Replay, Request, StepOutcome } from "./events.ts";

/** The right of one process to an attempt. After `until` the outcome is unknown, and the event may be sent again. */
type Lease = { readonly number: number; readonly node: string; readonly until: string };

/** The terms of an approval, and when it was requested (ISO-8601 UTC). */
export type Hold = { readonly approval: HeldFor; readonly heldAt: string };

/** The outcome of a bundle's step, and its cost in micro-euros; null if nothing can have reached the receiver. */
export type StepEnd = {
  readonly outcome: StepOutcome;
  readonly cost: number | null;
  /** The receiver reported the cost. */
  readonly reported?: true;
  /** The step was cancelled before any attempt. */
  readonly neverSent?: true;
};

/** Places that are spent for good, whatever is replayed later. Micro-euros. */
export type Paid = { readonly ledgers: readonly string[]; readonly cost: number };

/** The latest replay. */
export type LatestReplay = Replay & {
  readonly at: string;
  /** Attempts that had begun before it: the endpoint's schedule is counted from here. */
  readonly before: number;
  /** Micro-euros that earlier attempts have cost, which stay spent; null if none of them can have reached the receiver. */
  readonly counted: number | null;
};

/** Ids of the replays that a delivery was in, oldest first. */
type Replays = { readonly replays: readonly string[] };
type Decided = Replays & { readonly request: Request };

/** What stays known of an admitted delivery through attempts, holds and replays. */
type Progress = Decided & {
  /** Later than the decision if the delivery had to be released. */
  readonly admittedAt: string;
  /** The hold that was released last; null if no approval was needed. */
  readonly hold: Hold | null;
  /** The approvals that have released it, in their order: more than one if it was held again. */
  readonly releases: readonly string[];
  readonly attempts: number;
  /** Attempts since the admission or the latest replay that were probes: the endpoint's schedule does not count them. */
  readonly probes: number;
  /** The payload was erased: nothing is left to send. */
  readonly erased: boolean;
  /** Null as long as no attempt can have reached the receiver. */
  readonly reached: Reached | null;
  /** An attempt with an unknown outcome may have had its effect. */
  readonly mayBeDone: boolean;
  /** Null as long as no place was spent. */
  readonly paid: Paid | null;
  readonly replay: LatestReplay | null;
};

type Ended = {
  /** The final cost in micro-euros; null if it was for nothing, absent if no cost was recorded. */
  readonly spent?: number | null;
  /** Null unless the delivery carries a bundle's step. */
  readonly stepEnd: StepEnd | null;
};

/** The request died between its reservations and its decision. It may be sent again. */
type Abandoned = { readonly phase: "abandoned"; readonly erasedUpTo: Erased };
/** Refused by its gates. It may be decided again. */
type Blocked = Replays & { readonly phase: "blocked"; readonly refused: Request; readonly erasedUpTo: Erased };
/** Waits for people. */
export type HeldDelivery = Decided &
  Hold & {
    readonly phase: "held";
    /** The delivery when it was held again at an attempt; null if it was never released. */
    readonly before: ActiveDelivery | null;
    readonly erased: boolean;
  };
/** Waits for its next attempt. */
type Waiting = Progress & { readonly phase: "waiting"; readonly dueAt: string };
type Attempting = Progress & {
  readonly phase: "attempting";
  readonly lease: Lease;
  /** Why no other attempt follows this one; null if one may. */
  readonly cancelling: string | null;
};
/** Admitted without an endpoint: nothing is sent. */
type Recorded = Decided & Pick<Progress, "admittedAt" | "releases" | "paid"> & { readonly phase: "recorded" };
type Delivered = Progress & Ended & { readonly phase: "delivered" };
export type FailedDelivery = Progress & Ended & { readonly phase: "failed" };
/** Ended by people or by time, without having been delivered. */
export type StoppedDelivery = Decided &
  Ended &
  Pick<Progress, "releases" | "attempts" | "paid"> & {
    readonly phase: "stopped";
    readonly outcome: HoldOutcome;
    /** The approval that it was waiting for; null if it was not held. */
    readonly heldFor: string | null;
    /** Micro-euros that were spent before the latest replay; null if nothing was. */
    readonly counted: number | null;
  };

export type ActiveDelivery = Waiting | Attempting;
export type AdmittedDelivery = ActiveDelivery | Recorded | Delivered | FailedDelivery;
/** Decided for good: its request is never decided a second time. */
export type ClaimedDelivery = HeldDelivery | AdmittedDelivery | StoppedDelivery;
export type Delivery = { readonly phase: "absent" } | Abandoned | Blocked | ClaimedDelivery;

/** An attempt is under way, or another one follows. */
export const isActive = (state: Delivery): state is ActiveDelivery =>
  state.phase === "waiting" || state.phase === "attempting";

export const isAdmitted = (state: Delivery): state is AdmittedDelivery =>
  isActive(state) || state.phase === "recorded" || state.phase === "delivered" || state.phase === "failed";

export const isClaimed = (state: Delivery): state is ClaimedDelivery =>
  state.phase === "held" || state.phase === "stopped" || isAdmitted(state);

/** When an attempt may start: when it is due, or when the lease of the one before it ends. Null if none follows. */
export const attemptableAt = (state: Delivery): string | null => {
  if (state.phase === "waiting") return state.dueAt;
  return state.phase === "attempting" ? state.lease.until : null;
};

/** The request that was decided last; null if none was. */
export const requestOf = (state: Delivery): Request | null => {
  if (isClaimed(state)) return state.request;
  return state.phase === "blocked" ? state.refused : null;
};

/** Null as long as the step has not ended, and for a delivery that carries none. */
export const stepEndOf = (state: Delivery): StepEnd | null => ("stepEnd" in state ? state.stepEnd : null);

/** The approvals that have released it, in their order. */
export const releasesOf = (state: Delivery): readonly string[] => {
  if (state.phase === "held") return state.before?.releases ?? [];
  return "releases" in state ? state.releases : [];
};

/** Micro-euros; null if it was for nothing, undefined as long as no cost is recorded. */
export const finalCostOf = (state: Delivery): number | null | undefined => {
  if (state.phase !== "delivered" && state.phase !== "failed" && state.phase !== "stopped") return undefined;
  return state.stepEnd === null ? state.spent : state.stepEnd.cost;
};

/** The last revision of the payload's stream that a new decision must not use. */
export const erasedUpTo = (state: Delivery): Erased =>
  state.phase === "abandoned" || state.phase === "blocked" ? state.erasedUpTo : null;

export const paidOf = (state: ClaimedDelivery): Paid | null =>
  state.phase === "held" ? (state.before?.paid ?? null) : state.paid;
