import { DAY_MS } from "../../design/format.ts";

/** What a month comes to. Pure. */

const DAYS_SEEN = 7;

export type Expected = { readonly least: number; readonly most: number };

/**
 * How many events the period ends with, if each day that is left is like the quietest or like the busiest of the last
 * seven full days. `perDay` ends with today, which is not over. Null while no full day has passed.
 */
export const expectedEvents = (
  used: number,
  perDay: readonly (number | null)[],
  { end, now }: { readonly end: string; readonly now: number },
): Expected | null => {
  const full = perDay.slice(0, -1).slice(-DAYS_SEEN);
  if (full.length === 0) return null;
  const days = Math.max(0, (Date.parse(end) - now) / DAY_MS);
  const counts = full.map((it) => it ?? 0);
  const at = (each: number): number => used + Math.round(each * days);
  return { least: at(Math.min(...counts)), most: at(Math.max(...counts)) };
};

/** How many of the events that a period includes there are for each of its days. */
export const includedADay = (included: number, { start, end }: { readonly start: string; readonly end: string }) =>
  Math.floor(included / Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS));

type Block = { readonly events: number; readonly price_eur: number };

/** What the events beyond those that are included cost, in begun blocks. */
export const overageEur = (events: number, included: number, block: Block): number =>
  Math.ceil(Math.max(0, events - included) / block.events) * block.price_eur;

/** Adds up the points of several series, bucket by bucket; all have the same buckets. */
export const added = (
  series: readonly { readonly points: readonly { readonly at: string; readonly value: number | null }[] }[],
): readonly { readonly at: string; readonly value: number }[] =>
  (series[0]?.points ?? []).map(({ at }, nth) => ({
    at,
    value: series.reduce((sum, { points }) => sum + (points[nth]?.value ?? 0), 0),
  }));
