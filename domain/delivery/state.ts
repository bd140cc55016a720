import type { Reason } from "../personal/words.ts";
import type { Reached } from "./cost.ts";
import type { ErasedUpTo, HeldFor, HoldOutcome, Replay, Request, StepOutcome } from "./events.ts";

/** After `until` the attempt's outcome is unknown, and another process may send the event again. */
type Lease = { readonly number: number; readonly node: string; readonly until: string };

export type Hold = { readonly approval: HeldFor; readonly heldAt: string };

/** `cost`: micro-euros; null if nothing can have reached the receiver. */
export type StepEnd = {
  readonly outcome: StepOutcome;
  readonly cost: number | null;
  readonly reported?: true;
  readonly neverSent?: true;
};

export type Paid = { readonly ledgers: readonly string[]; readonly cost: number };

export type LatestReplay = Replay & {
  readonly at: string;
  /** How many attempts there were before the replay; the endpoint's schedule counts only those after it. */
  readonly before: number;
  /** Micro-euros of earlier attempts, which stay spent; null if none can have reached the receiver. */
  readonly counted: number | null;
};

type Replays = { readonly replays: readonly string[] };
type Decided = Replays & { readonly request: Request };

type Progress = Decided & {
  readonly admittedAt: string;
  /** The hold that was released last; null if no approval was needed. */
  readonly hold: Hold | null;
  /** Ids of approvals in the order of their releases: several if a released delivery was held again. */
  readonly releases: readonly string[];
  readonly attempts: number;
  /**
   * Attempts since the admission or the latest replay that the endpoint's schedule does not count: those made while the
   * circuit was open, except a probe that the schedule would have made anyway.
   */
  readonly probes: number;
  readonly erased: boolean;
  /** Null as long as no attempt can have reached the receiver. */
  readonly reached: Reached | null;
  /** True if the receiver may have executed an attempt whose outcome is unknown. */
  readonly mayBeDone: boolean;
  readonly paid: Paid | null;
  readonly replay: LatestReplay | null;
};

type Ended = {
  /** The final cost in micro-euros; null if nothing was charged, absent if no cost was recorded. */
  readonly spent?: number | null;
  readonly stepEnd: StepEnd | null;
};

/** The request died between its reservations and its decision, and may come again. */
type Abandoned = { readonly phase: "abandoned"; readonly erasedUpTo: ErasedUpTo };
/** A blocked event that comes again is decided again. */
type Blocked = Replays & { readonly phase: "blocked"; readonly refused: Request; readonly erasedUpTo: ErasedUpTo };
export type HeldDelivery = Decided &
  Hold & {
    readonly phase: "held";
    /** The delivery as it was when it was held again after a release; null if it was never released. */
    readonly before: ActiveDelivery | null;
    readonly erased: boolean;
  };
type Waiting = Progress & { readonly phase: "waiting"; readonly dueAt: string };
type Attempting = Progress & {
  readonly phase: "attempting";
  readonly lease: Lease;
  /** The reason of a cancellation that waits for this attempt; null without one. */
  readonly cancelling: Reason | null;
};
/** An event without an endpoint is admitted, but nothing is sent. */
type Recorded = Decided & Pick<Progress, "admittedAt" | "releases" | "paid"> & { readonly phase: "recorded" };
type Delivered = Progress & Ended & { readonly phase: "delivered" };
export type FailedDelivery = Progress & Ended & { readonly phase: "failed" };
export type StoppedDelivery = Decided &
  Ended &
  Pick<Progress, "releases" | "attempts" | "paid"> & {
    readonly phase: "stopped";
    readonly outcome: HoldOutcome;
    /** The approval that the delivery was waiting for; null if it was not held. */
    readonly heldFor: string | null;
    readonly counted: number | null;
  };

export type ActiveDelivery = Waiting | Attempting;
export type AdmittedDelivery = ActiveDelivery | Recorded | Delivered | FailedDelivery;
/** The request of a claimed delivery is never decided a second time. */
export type ClaimedDelivery = HeldDelivery | AdmittedDelivery | StoppedDelivery;
export type Delivery = { readonly phase: "absent" } | Abandoned | Blocked | ClaimedDelivery;

export const isActive = (state: Delivery): state is ActiveDelivery =>
  state.phase === "waiting" || state.phase === "attempting";

export const isAdmitted = (state: Delivery): state is AdmittedDelivery =>
  isActive(state) || state.phase === "recorded" || state.phase === "delivered" || state.phase === "failed";

export const isClaimed = (state: Delivery): state is ClaimedDelivery =>
  state.phase === "held" || state.phase === "stopped" || isAdmitted(state);

/** When an attempt may start: the due time, or the end of the running lease; null if no attempt follows. */
export const attemptableAt = (state: Delivery): string | null => {
  if (state.phase === "waiting") return state.dueAt;
  return state.phase === "attempting" ? state.lease.until : null;
};

export const requestOf = (state: Delivery): Request | null => {
  if (isClaimed(state)) return state.request;
  return state.phase === "blocked" ? state.refused : null;
};

export const stepEndOf = (state: Delivery): StepEnd | null => ("stepEnd" in state ? state.stepEnd : null);

export const releasesOf = (state: Delivery): readonly string[] => {
  if (state.phase === "held") return state.before?.releases ?? [];
  return "releases" in state ? state.releases : [];
};

/** Micro-euros; null if nothing was charged, undefined as long as no cost is recorded. */
export const finalCostOf = (state: Delivery): number | null | undefined => {
  if (state.phase !== "delivered" && state.phase !== "failed" && state.phase !== "stopped") return undefined;
  return state.stepEnd === null ? state.spent : state.stepEnd.cost;
};

/** The payload's stream is erased up to this revision, so a new decision must not use that part. */
export const erasedUpTo = (state: Delivery): ErasedUpTo =>
  state.phase === "abandoned" || state.phase === "blocked" ? state.erasedUpTo : null;

export const paidOf = (state: ClaimedDelivery): Paid | null =>
  state.phase === "held" ? (state.before?.paid ?? null) : state.paid;
