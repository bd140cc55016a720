/** Relative ranges, as they stand in addresses. */
export const RANGES = [
  { value: "1h", word: "last 1 h" },
  { value: "24h", word: "last 24 h" },
  { value: "7d", word: "last 7 d" },
  { value: "30d", word: "last 30 d" },
] as const;

const HOUR_MS = 3_600_000;
const HOURS: Readonly<Record<string, number>> = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 };
const MINUTE_MS = 60_000;

/** The whole minute in which we are: any moment of a day asks for the figures of that day. */
export const thisMinute = (now: number): { readonly from: string; readonly to: string } => {
  const start = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return { from: new Date(start).toISOString(), to: new Date(start + MINUTE_MS).toISOString() };
};

const EXPECTED = "Choose one of 1 h, 24 h, 7 d and 30 d.";

/** What a page with a range shows its figures of. */
export const RANGE_FILTER = { name: "range", label: "Range", choices: RANGES, expects: EXPECTED };

/** The filter by time of a list: relative, or two moments. */
export const timeFilter = (label: string) => ({
  ...RANGE_FILTER,
  label,
  startOf: (range: string) => rangeStart(range, Date.now()),
});

/** The first moment of the range, on a whole minute; undefined for a range that is not known. */
export const rangeStart = (range: string, now: number): string | undefined => {
  const hours = Object.hasOwn(HOURS, range) ? HOURS[range] : undefined;
  if (hours === undefined) return undefined;
  return new Date(Math.floor((now - hours * HOUR_MS) / MINUTE_MS) * MINUTE_MS).toISOString();
};

type FromAddress = { readonly range?: string | undefined; readonly from?: string | undefined };

/** The first moment of a list: that of its relative range, which ends now, or else the moment that the address names. */
export const firstMoment = ({ range, from }: FromAddress): string | undefined =>
  range === undefined ? from : rangeStart(range, Date.now());

type Values = Readonly<Record<string, string | undefined>>;

/** The filters of these names that the address sets. */
export const filtersOf = (names: readonly string[], query: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** What the API is asked for: a relative range, which stays so in the address, becomes its first moment. */
export const momentsOf = ({
  range,
  from,
  ...rest
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const start = firstMoment({ range, from });
  return start === undefined ? rest : { ...rest, from: start };
};
