import { DAY_MS } from "./format.ts";
import { toldOffset, type ZoneOffsets } from "./zone-offsets.ts";

const MINUTE_MS = 60_000;
/** No zone changes its clocks twice within so many days. */
const STEP_MS = 7 * DAY_MS;
const BACK_MS = 730 * DAY_MS;
const AHEAD_MS = 365 * DAY_MS;

/** The first minute after `before` at which the offset is that of `after`. */
const changeBetween = (zone: string, before: number, after: number): number => {
  const next = toldOffset(zone, after);
  let [low, high] = [before, after];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (toldOffset(zone, middle) === next) high = middle;
    else low = middle;
  }
  return high;
};

/** The offsets of two years back and one ahead. */
export const offsetsAround = (zone: string, now: number): ZoneOffsets => {
  const start = Math.floor((now - BACK_MS) / DAY_MS) * DAY_MS;
  const until = start + BACK_MS + AHEAD_MS;
  const changes: [number, number][] = [[start, toldOffset(zone, start)]];
  for (let at = start; at < until; at += STEP_MS)
    if (toldOffset(zone, at + STEP_MS) !== toldOffset(zone, at)) {
      const change = changeBetween(zone, at, at + STEP_MS);
      changes.push([change, toldOffset(zone, change)]);
    }
  return { zone, from: start, until, changes };
};
