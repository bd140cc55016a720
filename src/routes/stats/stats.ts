import type { Clock } from "../../../domain/ports/clock.ts";
import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import { stats } from "../../../projections/stats.ts";
import { STATS_BY, type StatsBucket, type StatsBy, seriesOf } from "../../../projections/stats-totals.ts";
import { object, text, time } from "../../http/json-schema.ts";
import { invalid } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Answer, type Call, type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { TIME_RANGE_QUERY } from "../../http/time-range.ts";
import type { Problem } from "../../streams/problems.ts";
import { pagesIn } from "../../views/typed-documents.ts";
import { figureOf, listBehind, METRICS, type Metric, together } from "./stats-figures.ts";
import { BUCKETS_MAX, STEPS, type StatsRange, statsRange } from "./stats-range.ts";

export type StatsDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly timeZoneOf: (account: string) => Promise<string>;
  readonly clock: Pick<Clock, "now">;
};

const KEYS_MAX = 50;
const KEYS_DEFAULT = 10;
/** Of all series of an answer together. */
const POINTS_MAX = 20_000;
/** Documents that are read for an answer: hours of a week and 300 keys. */
const BUCKETS_READ_MAX = 50_000;
const PAGE = 5_000;
const KEY_LENGTH_MAX = 128;
const ONE_METRIC = METRICS.join("|");

const QUERY = {
  metric: {
    type: "string",
    pattern: `^(${ONE_METRIC})(,(${ONE_METRIC}))*$`,
    default: "admitted",
    description:
      `One or several of ${METRICS.join(", ")}, separated by commas. Events are counted by the time at which they were ` +
      "received and by their status now. `admitted` are those that gates and people let through and that were not " +
      "cancelled; `bundles_blocked` are bundles that are refused as one, which are no events; `waiting` are those of them that are still to be sent; `cost_eur` is their cost. `spent_eur` is the cost of those that " +
      "have ended, `reserved_eur` of those that are held or still to be sent. A latency is the time from admission, release or replay to delivery, with an error of " +
      "at most 3.2 %.",
  },
  by: {
    enum: STATS_BY,
    default: "all",
    description: "What the series are about; `policy` is the one that decided, `gate` the one that refused",
  },
  key: { type: "string", minLength: 1, maxLength: KEY_LENGTH_MAX, description: "Only the series of this id or name" },
  ...TIME_RANGE_QUERY,
  step: {
    enum: Object.keys(STEPS),
    description:
      "The length of the buckets. `1d` is a day of the account's time zone; minutes are kept for 48 hours, hours for 100 " +
      "days. Left out: by the range",
  },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: KEYS_MAX,
    default: KEYS_DEFAULT,
    description: "The most series for each metric, the largest of the first metric. The others are one more series",
  },
} as const satisfies Record<string, JsonSchema>;

const value: JsonSchema = { type: ["number", "null"], description: "Null for a latency if nothing was delivered" };

const ANSWER = named(
  "Statistics",
  object({
    by: { enum: STATS_BY },
    step: { enum: Object.keys(STEPS) },
    from: { ...time, description: "The beginning of the first bucket, at or before the time that was asked for" },
    to: { ...time, description: "The end of the last bucket" },
    time_zone: { ...text, description: "Of the account: its midnights begin the days" },
    series: {
      type: "array",
      items: object({
        metric: { enum: METRICS },
        key: { type: ["string", "null"], description: "Null for `all`, and for the rest" },
        rest: { type: "integer", description: "How many keys the series adds up; 0 if it has one key" },
        value: { ...value, description: "Of the whole range" },
        list: {
          type: ["string", "null"],
          description: "The address of the list of these events or bundles; null for the rest",
        },
        points: { type: "array", items: object({ at: time, value }) },
      }),
    },
  }),
);

type ByKey = ReadonlyMap<string, readonly StatsBucket[]>;

const tooMuch = (): Problem =>
  invalid(
    "step",
    "makes too many points of all these keys: ask for a larger step, a shorter range, fewer metrics or one key",
  );

const readBuckets = async ({ views }: StatsDeps, where: readonly Condition[]): Promise<ByKey | Problem> => {
  const found = new Map<string, StatsBucket[]>();
  let read = 0;
  const sort = { field: "at", order: "asc" } as const;
  for await (const page of pagesIn<object>(views, stats, { where, sort, limit: PAGE })) {
    read += page.length;
    if (read > BUCKETS_READ_MAX) return tooMuch();
    for (const { document } of page) {
      // The documents of a series are buckets.
      const bucket = document as StatsBucket;
      const own = found.get(bucket.key) ?? [];
      own.push(bucket);
      found.set(bucket.key, own);
    }
  }
  return found;
};

type Series = { readonly key: string | null; readonly rest: number; readonly buckets: readonly StatsBucket[] };

/** The series with the highest figures of the metric, then one of all others. */
const largest = (all: ByKey, metric: Metric, limit: number): readonly Series[] => {
  const ranked = [...all]
    .map(([key, buckets]) => ({ key, rest: 0, buckets, figure: figureOf(metric, together(buckets)) ?? -1 }))
    .sort((a, b) => b.figure - a.figure || (a.key < b.key ? -1 : 1));
  const others = ranked.slice(limit);
  const rest = { key: null, rest: others.length, buckets: others.flatMap(({ buckets }) => buckets) };
  return [...ranked.slice(0, limit), ...(others.length === 0 ? [] : [rest])];
};

const pointsOf = (metric: Metric, { buckets: ofRange }: StatsRange, buckets: readonly StatsBucket[]) => {
  const byTime = new Map<string, StatsBucket[]>();
  for (const bucket of buckets) byTime.set(bucket.at, [...(byTime.get(bucket.at) ?? []), bucket]);
  return ofRange.map(({ key, at }) => ({ at, value: figureOf(metric, together(byTime.get(key) ?? [])) }));
};

const shown = (by: StatsBy, metric: Metric, range: StatsRange, { key, rest, buckets }: Series) => ({
  metric,
  key: by === "all" ? null : key,
  rest,
  value: figureOf(metric, together(buckets)),
  list: rest > 0 ? null : listBehind(metric, { by, key: key ?? "" }, range),
  points: pointsOf(metric, range, buckets),
});

const answer = async (
  deps: StatsDeps,
  { principal, query }: Call<{ query: typeof QUERY }>,
): Promise<Answer | Problem> => {
  const { account } = principal;
  const { by = "all", limit = KEYS_DEFAULT } = query;
  const time_zone = await deps.timeZoneOf(account);
  const range = statsRange(query, time_zone, deps.clock.now());
  if ("problem" in range) return range;
  // The pattern of the parameter has no others.
  const metrics = [...new Set((query.metric ?? "admitted").split(",") as Metric[])];
  const [first = "admitted"] = metrics;
  if (range.buckets.length * metrics.length > POINTS_MAX) return tooMuch();
  const [from, last] = [range.buckets[0]?.key ?? "", range.buckets.at(-1)?.key ?? ""];
  const found = await readBuckets(deps, [
    { field: "series", is: "=", value: seriesOf(account, by, STEPS[range.step]) },
    ...(query.key === undefined ? [] : [{ field: "key", is: "=", value: query.key } as const]),
    { field: "at", is: ">=", value: from },
    { field: "at", is: "<=", value: last },
  ]);
  if ("problem" in found) return found;
  // A sum of nothing is shown, too.
  const wanted = by === "all" ? "" : query.key;
  const all = found.size === 0 && wanted !== undefined ? new Map([[wanted, []]]) : found;
  const series = largest(all, first, limit);
  if (range.buckets.length * metrics.length * series.length > POINTS_MAX) return tooMuch();
  return {
    status: 200,
    body: {
      by,
      step: range.step,
      from: range.from,
      to: range.to,
      time_zone,
      series: metrics.flatMap((metric) => series.map((one) => shown(by, metric, range, one))),
    },
  };
};

export const statsRoutes = (deps: StatsDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/stats",
    who: READERS,
    summary: `Figures over time, at most ${BUCKETS_MAX} points a series, each with the address of the list that it counts`,
    tag: "events",
    query: QUERY,
    answers: { 200: ANSWER },
    reads: [stats.schema.name],
    handle: (call) => answer(deps, call),
  }),
];
