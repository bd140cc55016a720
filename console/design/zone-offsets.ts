/**
 * How far the clocks of a zone are from UTC. The browser's own formats tell it, but the first one takes some 15 ms to make and
 * four times as long on a phone, while a page is being drawn. So the offsets of the years around the present are worked out
 * once, and the shell keeps them in the browser.
 */
export type ZoneOffsets = {
  readonly zone: string;
  /** In milliseconds since 1970; outside of them the formats are asked. */
  readonly from: number;
  readonly until: number;
  /** Moments from which an offset in milliseconds holds, in order; the first is `from`. */
  readonly changes: readonly (readonly [at: number, offset: number])[];
};

const formats = new Map<string, Intl.DateTimeFormat>();

const formatIn = (zone: string): Intl.DateTimeFormat => {
  // Swedish writes a time as ISO 8601 does, with a space.
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  formats.set(zone, format);
  return format;
};

/** What the browser says, as `offsetIn`. */
export const toldOffset = (zone: string, at: number): number => {
  const shown = Date.parse(`${formatIn(zone).format(at).replace(" ", "T")}Z`);
  return Number.isNaN(shown) ? 0 : shown - Math.floor(at / 1_000) * 1_000;
};

let kept: ZoneOffsets | null = null;

/** Answers from these, for their zone. */
export const keepOffsets = (offsets: ZoneOffsets | null): void => {
  kept = offsets;
};

/** Milliseconds by which the zone's clocks are ahead of UTC at this moment. */
export const offsetIn = (zone: string, at: number): number => {
  if (zone === "UTC") return 0;
  if (kept?.zone !== zone || at < kept.from || at >= kept.until) return toldOffset(zone, at);
  return kept.changes.findLast(([from]) => from <= at)?.[1] ?? toldOffset(zone, at);
};
