import { eurOf } from "../../../domain/gate/cost.ts";
import { FINE_BITS, type Histogram, merged, percentile } from "../../../projections/histogram.ts";
import { EVENT_STATUSES } from "../../../projections/schemas/events.ts";
import { PASSED, type StatsBucket, type StatsBy, UNFINISHED } from "../../../projections/stats-totals.ts";

const COUNTED = ["blocked", "held", "delivered", "failed"] as const;

export const METRICS = [
  "admitted",
  ...COUNTED,
  "bundles_blocked",
  "waiting",
  "attempts",
  "latency_p50_ms",
  "latency_p99_ms",
  "cost_eur",
  "spent_eur",
  "reserved_eur",
] as const;
export type Metric = (typeof METRICS)[number];

/** The statuses of events that were let through and are still to be sent. */
const WAITING = ["queued", "delivering", "retrying"] as const;

type Part = Partial<Omit<StatsBucket, "account" | "by" | "key" | "step" | "series" | "at">>;

const SUMMED = [...EVENT_STATUSES, "bundles_blocked", "attempts", "cost", "reserved", "spent"] as const;

/** The figures of several buckets as those of one. */
export const together = (parts: readonly Part[]): Part => {
  const sums = SUMMED.map((name) => [name, parts.reduce((sum, part) => sum + (part[name] ?? 0), 0)]);
  const latency: Histogram = merged(parts.flatMap((part) => (part.latency === undefined ? [] : [part.latency])));
  return { ...Object.fromEntries(sums), latency };
};

/** A latency is null if nothing was delivered. */
export const figureOf = (metric: Metric, part: Part): number | null => {
  switch (metric) {
    case "admitted":
      return [...PASSED].reduce((sum, status) => sum + (part[status] ?? 0), 0);
    case "waiting":
      return WAITING.reduce((sum, status) => sum + (part[status] ?? 0), 0);
    case "latency_p50_ms":
      return percentile(part.latency ?? [], 0.5, FINE_BITS);
    case "latency_p99_ms":
      return percentile(part.latency ?? [], 0.99, FINE_BITS);
    case "cost_eur":
      return eurOf(part.cost ?? 0);
    case "spent_eur":
      return eurOf(part.spent ?? 0);
    case "reserved_eur":
      return eurOf(part.reserved ?? 0);
    default:
      return part[metric] ?? 0;
  }
};

const STATUSES: Readonly<Record<Metric, string | null>> = {
  admitted: [...PASSED].join(","),
  blocked: "blocked",
  held: "held",
  delivered: "delivered",
  failed: "failed",
  bundles_blocked: "blocked",
  waiting: WAITING.join(","),
  attempts: null,
  latency_p50_ms: "delivered",
  latency_p99_ms: "delivered",
  cost_eur: [...PASSED].join(","),
  spent_eur: [...PASSED].filter((status) => !UNFINISHED.has(status)).join(","),
  reserved_eur: [...UNFINISHED].join(","),
};

const FILTERS: Readonly<Record<StatsBy, string | null>> = {
  all: null,
  source: "source_id",
  agent: "agent_id",
  endpoint: "endpoint_id",
  action: "action",
  policy: "policy_id",
  gate: "gate",
};

/** A bundle is of an agent, and no event. */
const BUNDLE_FILTERS: ReadonlySet<StatsBy> = new Set(["all", "agent", "policy", "gate"]);

/** The address of the list of the events, or of the bundles, that a figure is about; null if there is none. */
export const listBehind = (
  metric: Metric,
  { by, key }: Pick<StatsBucket, "by" | "key">,
  { from, to }: { readonly from: string; readonly to: string },
): string | null => {
  const isOfBundles = metric === "bundles_blocked";
  if (isOfBundles && !BUNDLE_FILTERS.has(by)) return null;
  const filter = new URLSearchParams({ from, to, ...(isOfBundles ? {} : { origin: "source,agent" }) });
  const [status, name] = [STATUSES[metric], FILTERS[by]];
  if (status !== null) filter.set("status", status);
  else if (by === "gate") filter.set("status", "blocked");
  if (name !== null) filter.set(name, key);
  return `/v1/${isOfBundles ? "bundles" : "events"}?${filter}`;
};
