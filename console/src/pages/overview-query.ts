import { RANGES, rangeStart } from "./ranges.ts";

const DEFAULT_RANGE = "24h";

/** The range that the address names. */
export const rangeIn = (query: Readonly<Record<string, string>>): (typeof RANGES)[number]["value"] =>
  RANGES.find(({ value }) => value === query.range)?.value ?? DEFAULT_RANGE;

const FIGURES = "admitted,delivered,blocked,held,failed,latency_p50_ms,latency_p99_ms";

/** What the figures of Overview are asked for. */
export const figuresQueries = (range: string, now: number) => {
  const start = rangeStart(range, now);
  const from = start === undefined ? {} : { from: start };
  return {
    all: { metric: FIGURES, by: "all", ...from },
    gates: { metric: "blocked", by: "gate", ...from },
    held: { metric: "held", by: "action", ...from },
  } as const;
};

/** The most that one answer has. */
export const BUDGETS_QUERY = { limit: 100, ledger: "today" } as const;
export const ENDPOINTS_QUERY = { limit: 100 } as const;
