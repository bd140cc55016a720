import { iso } from "../../domain/calendar.ts";
import type { CommandOf } from "../../domain/delivery/commands.ts";
import { triggerOf } from "../../domain/delivery/replay.ts";
import type { ActiveDelivery } from "../../domain/delivery/state.ts";
import { CLOCKS_APART_MS_MAX } from "../../infra/eventstoredb/clock-check.ts";
import { isBeyondAnySchedule, type Job } from "./job.ts";

/** A lease outlives its request by this time, so that a slow log can still record the outcome. */
const LEASE_MARGIN_MS = 15_000;

export type Node = { readonly node: string; readonly othersAreGone: boolean };

type Early = CommandOf<"StartAttempt">["early"];

const earlyOf = (job: Job, state: ActiveDelivery, nowMs: number): Early => {
  if (job.kind === "probe") return "probe";
  if (job.kind === "ordered") return "turn";
  return state.phase === "waiting" && isBeyondAnySchedule(Date.parse(state.dueAt), nowMs) ? "turn" : undefined;
};

/** Attempts while the circuit is open do not use up the schedule, except the probes that count (`isCounted`). */
const earlyWhileOpen = (job: Job): Early => (job.kind === "probe" && job.isCounted ? "turn" : "probe");

type Start = {
  readonly nowMs: number;
  /** The limit of the request in ms; 0 if the decider is only asked whether an attempt may start. */
  readonly timeoutMs: number;
  readonly isCircuitOpen: boolean;
};

export const startCommand = (
  job: Job,
  state: ActiveDelivery,
  { node, othersAreGone }: Node,
  { nowMs, timeoutMs, isCircuitOpen }: Start,
): CommandOf<"StartAttempt"> => {
  const early = isCircuitOpen ? earlyWhileOpen(job) : earlyOf(job, state, nowMs);
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
 * After a lease has ended, another node may attempt the delivery or send the step's undo, so a late request is not
 * sent. `passedMs` is the time since the command to start, by clock and by timers: a clock may be set, and timers stop
 * while the machine is suspended.
 */
export const isInTime = (passedMs: readonly [clock: number, timers: number], { othersAreGone }: Node): boolean =>
  Math.max(...passedMs) <= LEASE_MARGIN_MS - (othersAreGone ? 0 : CLOCKS_APART_MS_MAX);
