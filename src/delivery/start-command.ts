import type { CommandOf } from "../../domain/delivery/commands.ts";
import { triggerOf } from "../../domain/delivery/replay.ts";
import type { ActiveDelivery } from "../../domain/delivery/state.ts";
import { CLOCKS_APART_MS_MAX } from "../../infra/eventstoredb/clock-check.ts";
import { isBeyondAnySchedule, type Job } from "./job.ts";

/** A lease outlives its request by this, so that the outcome can be recorded even when the log is slow. */
const LEASE_MARGIN_MS = 15_000;

/** This process, and whether every other one that held a lease is known to be gone. */
export type Node = { readonly node: string; readonly othersAreGone: boolean };

type Early = CommandOf<"StartAttempt">["early"];

const iso = (ms: number): string => new Date(ms).toISOString();

/** What lets an attempt start before its delivery is due; undefined for nothing. */
const earlyOf = (job: Job, state: ActiveDelivery, nowMs: number): Early => {
  if (job.kind === "probe") return "probe";
  if (job.kind === "ordered") return "turn";
  return state.phase === "waiting" && isBeyondAnySchedule(Date.parse(state.dueAt), nowMs) ? "turn" : undefined;
};

/** An attempt while the circuit is open uses up nothing of the schedule, unless it is a probe that counts. */
const earlyWhileOpen = (job: Job): Early => (job.kind === "probe" && job.isCounted ? "turn" : "probe");

type Start = {
  readonly nowMs: number;
  /** The endpoint's timeout; 0 if the command is only decided on and not given. */
  readonly timeoutMs: number;
  readonly whileOpen: boolean;
};

export const startCommand = (
  job: Job,
  state: ActiveDelivery,
  { node, othersAreGone }: Node,
  { nowMs, timeoutMs, whileOpen }: Start,
): CommandOf<"StartAttempt"> => {
  const early = whileOpen ? earlyWhileOpen(job) : earlyOf(job, state, nowMs);
  const start = {
    type: "StartAttempt",
    endpointId: job.endpointId,
    trigger: triggerOf(state),
    node,
    at: iso(nowMs),
    leaseUntil: iso(nowMs + timeoutMs + LEASE_MARGIN_MS),
    othersAreGone,
  } as const;
  return early === undefined ? start : { ...start, early };
};

/**
 * A request that could outlast its lease is not sent, and is tried again later: after the lease other nodes go on as if
 * nothing were under way, and the undo of a step could arrive before the step. They read the end of the lease from a clock
 * that may be ahead of this one. `passedMs`: since before the start was appended, by the clock and by the timers. Both have
 * to agree, because the clock may be set, and the timers stand still while the machine is suspended.
 */
export const isInTime = (passedMs: readonly [clock: number, timers: number], { othersAreGone }: Node): boolean =>
  Math.max(...passedMs) <= LEASE_MARGIN_MS - (othersAreGone ? 0 : CLOCKS_APART_MS_MAX);
