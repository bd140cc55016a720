import { RANGES, rangeStart } from "./ranges.ts";

const DEFAULT_RANGE = "24h";

/** The range that the address names. */
export const rangeIn = (query: Readonly<Record<string, string>>): (typeof RANGES)[number]["value"] =>
  RANGES.find(({ value }) => value === query.range)?.value ?? DEFAULT_RANGE;

/** What the figures of Overview are about: a relative range, or two moments. */
export type Span = {
  /** The relative range; null if the address has moments instead. */
  readonly range: string | null;
  readonly from?: string;
  readonly to?: string;
};

const momentIn = (text: string | undefined): string | undefined =>
  text !== undefined && Number.isFinite(Date.parse(text)) ? text : undefined;

export const spanIn = (query: Readonly<Record<string, string>>): Span => {
  const [from, to] = [momentIn(query.from), momentIn(query.to)];
  if (from === undefined || query.range !== undefined) return { range: rangeIn(query) };
  return { range: null, from, ...(to === undefined ? {} : { to }) };
};

const FIGURES = "admitted,delivered,blocked,bundles_blocked,held,failed,waiting,latency_p50_ms,latency_p99_ms";

/** Without the entries that are undefined. */
const given = (query: Readonly<Record<string, string | undefined>>): { readonly from?: string; readonly to?: string } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));

/** What the figures of Overview are asked for. */
export const figuresQueries = ({ range, from: first, to }: Span, now: number) => {
  // A relative range ends now.
  const asked = range === null ? given({ from: first, to }) : given({ from: rangeStart(range, now) });
  return {
    all: { metric: FIGURES, by: "all", ...asked },
    gates: { metric: "blocked,bundles_blocked", by: "gate", ...asked },
    held: { metric: "held", by: "action", ...asked },
  } as const;
};

/** The most that one answer has. */
export const BUDGETS_QUERY = { limit: 100, ledger: "today" } as const;
export const ENDPOINTS_QUERY = { limit: 100 } as const;
