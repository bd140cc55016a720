export const DAY_MS = 86_400_000;

const isoTexts = (): ((ms: number) => string) => {
  let known = 0;
  let text = new Date(known).toISOString();
  return (ms) => {
    if (ms !== known) {
      text = new Date(ms).toISOString();
      known = ms;
    }
    return text;
  };
};

/** ISO-8601 UTC with milliseconds. The last text is kept, because an admission asks some eight times for one moment. */
export const iso = isoTexts();

const formatters = (): ((timeZone: string) => Intl.DateTimeFormat) => {
  const known = new Map<string, Intl.DateTimeFormat>();
  return (timeZone) => {
    let formatter = known.get(timeZone);
    if (formatter === undefined) {
      formatter = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
      known.set(timeZone, formatter);
    }
    return formatter;
  };
};

/** Formatters are kept, as building one takes longer than an admission; there are only about 400 zones. */
const formatterOf = formatters();

/** YYYY-MM-DD in an IANA time zone. */
export const dayIn = (timeZone: string, atMs: number): string =>
  timeZone === "UTC" ? iso(atMs).slice(0, 10) : formatterOf(timeZone).format(atMs);

const MINUTE_MS = 60_000;
/** Zones are at most 14 hours away from UTC (tz database). */
const OFFSET_MAX_MS = 15 * 60 * MINUTE_MS;

/** The first moment of a day (ms since 1970): clocks have begun a day at a whole minute since 1972. */
export const dayStart = (timeZone: string, day: string): number => {
  const utc = Date.parse(`${day}T00:00:00Z`);
  let low = (utc - OFFSET_MAX_MS) / MINUTE_MS;
  let high = (utc + OFFSET_MAX_MS) / MINUTE_MS;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (dayIn(timeZone, middle * MINUTE_MS) >= day) high = middle;
    else low = middle + 1;
  }
  return low * MINUTE_MS;
};

/** `day` is YYYY-MM-DD, and `days` may be negative. Only dates are counted, so no change of the clocks matters. */
export const daysLater = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** YYYY-MM in UTC: quotas and bills are counted by it. */
export const monthOf = (atMs: number): string => iso(atMs).slice(0, 7);

export const monthEnd = (atMs: number): number => {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};

/** Milliseconds until the zone's next midnight, at most a second too many. Bisection copes with every offset rule. */
export const untilMidnight = (timeZone: string, atMs: number): number => {
  const today = dayIn(timeZone, atMs);
  let low = atMs;
  // The longest day, when clocks are set back, has 25 hours.
  let high = atMs + 26 * 3_600_000;
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2);
    if (dayIn(timeZone, middle) === today) low = middle;
    else high = middle;
  }
  return high - atMs;
};
