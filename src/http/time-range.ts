import type { Problem } from "../streams/problems.ts";
import { invalid } from "./listing.ts";
import type { JsonSchema } from "./route.ts";

/** `to` is excluded. Both are ISO 8601 in UTC with milliseconds, so that they compare as text; null means no limit. */
export type TimeRange = { readonly from: string | null; readonly to: string | null };

export const TIME_RANGE_QUERY = {
  from: { type: "string", format: "date-time", description: "This time or later" },
  to: { type: "string", format: "date-time", description: "Before this time" },
} as const satisfies Record<string, JsonSchema>;

const WITH_ZONE = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;

/** ISO 8601 gives a sign to years of more or fewer digits, and a text with a sign would sort before all others. */
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

export const comparable = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();

const timeOf = (query: Readonly<Record<string, unknown>>, path: "from" | "to"): string | null | Problem => {
  const given = query[path];
  if (given === undefined) return null;
  const text = String(given);
  const ms = WITH_ZONE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return comparable(ms);
  return invalid(path, "must be a time with its zone, such as 2026-01-31T12:00:00Z");
};

export const timeRangeOf = (query: Readonly<Record<string, unknown>>): TimeRange | Problem => {
  const from = timeOf(query, "from");
  if (from !== null && typeof from !== "string") return from;
  const to = timeOf(query, "to");
  if (to !== null && typeof to !== "string") return to;
  return { from, to };
};
