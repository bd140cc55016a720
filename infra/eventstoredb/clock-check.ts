import type { Clock } from "../../domain/ports/clock.ts";

/** A node's clock measures leases of 15 s and more and the sliding minute of a rate limit. */
const DIFFERENCE_MS_MAX = 5_000;
/** A slower answer makes the server's time too inexact. */
const LOOK_MS_MAX = 1_000;
/** More means that the clock was set during a look. */
const SET_MS_MAX = 100;
/** Each of two nodes is compared with the server. */
export const CLOCKS_APART_MS_MAX = 2 * (DIFFERENCE_MS_MAX + LOOK_MS_MAX);

/** Two clocks of this machine at one moment; only `atMs` can be set. */
export type Moment = { readonly atMs: number; readonly steadyMs: number };

export const momentOf = (clock: Clock): Moment => ({ atMs: clock.now(), steadyMs: performance.now() });

export const setBetween = (from: Moment, to: Moment): number => to.atMs - from.atMs - (to.steadyMs - from.steadyMs);

/** The server wrote a record between two moments and reported when. */
export type ClockLook = { readonly writtenMs: number; readonly from: Moment; readonly to: Moment };

/** How far this machine's clock is ahead at least; time under way may explain the rest. */
export const aheadMs = ({ writtenMs, from, to }: ClockLook): number => {
  if (writtenMs < from.atMs) return from.atMs - writtenMs;
  return writtenMs > to.atMs ? to.atMs - writtenMs : 0;
};

/** The look was short enough, and the clock was not set during it. */
export const isReliable = ({ from, to }: ClockLook): boolean =>
  to.steadyMs - from.steadyMs <= LOOK_MS_MAX && Math.abs(setBetween(from, to)) <= SET_MS_MAX;

/** A sentence if this machine's clock is too far ahead (below 0: behind) to decide by it; otherwise null. */
export const clockProblem = (ms: number): string | null => {
  if (Math.abs(ms) <= DIFFERENCE_MS_MAX) return null;
  const differs = `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  return (
    `this machine's clock is ${differs} the server's, of which ${DIFFERENCE_MS_MAX / 1_000} s are allowed: ` +
    "set the clocks of both (NTP), as leases and rates are measured by them"
  );
};
