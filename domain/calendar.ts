export const DAY_MS = 86_400_000;

/** ISO-8601 UTC with milliseconds. */
export const iso = (ms: number): string => new Date(ms).toISOString();

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
  timeZone === "UTC" ? new Date(atMs).toISOString().slice(0, 10) : formatterOf(timeZone).format(atMs);

/** `day` is YYYY-MM-DD, and `days` may be negative. Only dates are counted, so no change of the clocks matters. */
export const daysLater = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** YYYY-MM in UTC: quotas and bills are counted by it. */
export const monthOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 7);

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
