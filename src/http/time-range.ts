import type { Problem } from "../streams/problems.ts";
import { invalid } from "./listing.ts";
import type { JsonSchema } from "./route.ts";

/** Half-open: `from` belongs to it, `to` does not. ISO-8601 UTC with milliseconds, so that they compare as text. */
export type TimeRange = { readonly from: string | null; readonly to: string | null };

export const TIME_RANGE_QUERY = {
  from: { type: "string", format: "date-time", description: "This time or later" },
  to: { type: "string", format: "date-time", description: "Before this time" },
} as const satisfies Record<string, JsonSchema>;

const WITH_ZONE = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;

/** Four digits a year: before and behind these, ISO 8601 writes a sign in front, and such a text is before all others. */
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Of ms since 1970, as records are compared with; what no record can be before or behind stands for all that is further. */
export const comparable = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();

const timeOf = (query: Readonly<Record<string, unknown>>, path: "from" | "to"): string | null | Problem => {
  const given = query[path];
  if (given === undefined) return null;
  const text = String(given);
  const ms = WITH_ZONE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return comparable(ms);
  return invalid(path, "must be a time with its zone, as 2026-01-31T12:00:00Z");
};

/** Reads `from` and `to`; what is no time is a problem. */
export const timeRangeOf = (query: Readonly<Record<string, unknown>>): TimeRange | Problem => {
  const from = timeOf(query, "from");
  if (from !== null && typeof from !== "string") return from;
  const to = timeOf(query, "to");
  if (to !== null && typeof to !== "string") return to;
  return { from, to };
};
