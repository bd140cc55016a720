import type { Query } from "./api.ts";
import { type Options, UsageError } from "./command.ts";

export const FILTER_OPTIONS = {
  status: { type: "string" },
  source: { type: "string" },
  agent: { type: "string" },
  endpoint: { type: "string" },
  action: { type: "string" },
  q: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
} as const;

export const TIMES_HELP = "a time (2026-03-01T12:00:00Z), or how long ago: 90s, 30m, 2h, 3d";

const AGO = /^(\d{1,6})([smhd])$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A day in UTC, or a time with its zone (RFC 3339, section 5.6); a space for the T is as `shownTime` writes it. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** NaN for an invalid time. `Date.parse` guesses: it takes "2" for a day of 2001, which would replay everything. */
const timeMs = (text: string): number => {
  const day = TIME.exec(text)?.[1];
  if (day === undefined) return Number.NaN;
  // `Date.parse` takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.parse(day)).getUTCDate() === Number(day.slice(-2));
  return isDay ? Date.parse(text.replace(" ", "T").toUpperCase()) : Number.NaN;
};

export const timeOf = (name: string, text: string | boolean | undefined, nowMs: number): string | undefined => {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = AGO.exec(String(text)) ?? [];
  const ms = count === undefined ? timeMs(String(text)) : nowMs - Number(count) * (UNIT_MS[unit] ?? 0);
  if (Number.isNaN(ms)) throw new UsageError(`--${name} takes ${TIMES_HELP}.`);
  return new Date(ms).toISOString();
};

export const textOf = (value: string | boolean | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

export const filterQuery = (options: Options, nowMs: number): Query => ({
  status: textOf(options.status),
  source_id: textOf(options.source),
  agent_id: textOf(options.agent),
  endpoint_id: textOf(options.endpoint),
  action: textOf(options.action),
  q: textOf(options.q),
  from: timeOf("from", options.from, nowMs),
  to: timeOf("to", options.to, nowMs),
});
