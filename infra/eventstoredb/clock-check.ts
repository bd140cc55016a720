import type { Clock } from "../../domain/ports/clock.ts";

/**
 * By how much the clocks of a node and of the log's server may differ: leases of 15 s and more and the sliding minute of a
 * rate are measured by the node's, and shortened by as much as those of two nodes differ.
 */
const DIFFERENCE_MS_MAX = 5_000;
/** If the server takes longer to answer, its time is too inexact to compare with. */
const LOOK_MS_MAX = 1_000;
/** This machine's clock must not be set while the server's is asked for. */
const SET_MS_MAX = 100;
/** The clocks of two nodes differ by no more: each is compared with the server's. */
export const CLOCKS_APART_MS_MAX = 2 * (DIFFERENCE_MS_MAX + LOOK_MS_MAX);

/** This machine's two clocks at one moment; only the first of them can be set. */
export type Moment = { readonly atMs: number; readonly steadyMs: number };

export const momentOf = (clock: Clock): Moment => ({ atMs: clock.now(), steadyMs: performance.now() });

/** By how much this machine's clock was set from one moment to another. */
export const setBetween = (from: Moment, to: Moment): number => to.atMs - from.atMs - (to.steadyMs - from.steadyMs);

/** The server has written something between two moments, and says when that was. */
export type ClockLook = { readonly writtenMs: number; readonly from: Moment; readonly to: Moment };

/** How far this machine's clock is ahead, at least: what was under way cannot be told from a difference. */
export const aheadMs = ({ writtenMs, from, to }: ClockLook): number => {
  if (writtenMs < from.atMs) return from.atMs - writtenMs;
  return writtenMs > to.atMs ? to.atMs - writtenMs : 0;
};

/** Whether the look was short enough to be relied on, and the clock was not set meanwhile. */
export const isReliable = ({ from, to }: ClockLook): boolean =>
  to.steadyMs - from.steadyMs <= LOOK_MS_MAX && Math.abs(setBetween(from, to)) <= SET_MS_MAX;

/** A sentence when this machine's clock is so far ahead, or behind below 0, that nothing may be decided by it; else null. */
export const clockProblem = (ms: number): string | null => {
  if (Math.abs(ms) <= DIFFERENCE_MS_MAX) return null;
  const differs = `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  return (
    `this machine's clock is ${differs} the server's, of which ${DIFFERENCE_MS_MAX / 1_000} s are allowed: ` +
    "set the clocks of both (NTP), as leases and rates are measured by them"
  );
};
