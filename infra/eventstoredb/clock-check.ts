import type { Clock } from "../../domain/ports/clock.ts";

const DIFFERENCE_MS_MAX = 5_000;
const LOOK_MS_MAX = 1_000;
const SET_MS_MAX = 100;
/** How far two nodes' clocks may be apart: one may be ahead of the server's by what is allowed, the other behind. */
export const CLOCKS_APART_MS_MAX = 2 * (DIFFERENCE_MS_MAX + LOOK_MS_MAX);

/** Two clocks of this machine at one moment, in ms: `atMs` jumps when the time is set, `steadyMs` never does. */
export type Moment = { readonly atMs: number; readonly steadyMs: number };

export const momentOf = (clock: Clock): Moment => ({ atMs: clock.now(), steadyMs: performance.now() });

export const setBetween = (from: Moment, to: Moment): number => to.atMs - from.atMs - (to.steadyMs - from.steadyMs);

export type ClockLook = { readonly writtenMs: number; readonly from: Moment; readonly to: Moment };

/** By how much this machine's clock is at least ahead of the server's (negative: behind); the look took time, too. */
export const aheadMs = ({ writtenMs, from, to }: ClockLook): number => {
  if (writtenMs < from.atMs) return from.atMs - writtenMs;
  return writtenMs > to.atMs ? to.atMs - writtenMs : 0;
};

export const isReliable = ({ from, to }: ClockLook): boolean =>
  to.steadyMs - from.steadyMs <= LOOK_MS_MAX && Math.abs(setBetween(from, to)) <= SET_MS_MAX;

export const clockProblem = (ms: number): string | null => {
  if (Math.abs(ms) <= DIFFERENCE_MS_MAX) return null;
  const differs = `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  return (
    `this machine's clock is ${differs} the server's, of which ${DIFFERENCE_MS_MAX / 1_000} s are allowed: ` +
    "set the clocks of both (NTP), as leases and rates are measured by them"
  );
};
