import { DAY_MS, dayIn, dayStart, daysLater, iso } from "../../../domain/calendar.ts";
import { PLACES, type StatsStep } from "../../../projections/stats-totals.ts";
import { invalid } from "../../http/listing.ts";
import { timeRangeOf } from "../../http/time-range.ts";
import type { Problem } from "../../streams/problems.ts";

export const STEPS = { "1m": "minute", "1h": "hour", "1d": "day" } as const satisfies Record<string, StatsStep>;

type StepName = keyof typeof STEPS;

type Bucket = {
  /** The time that the view's documents of this bucket have. */
  readonly key: string;
  /** Its beginning, in UTC. */
  readonly at: string;
};

export type StatsRange = {
  readonly step: StepName;
  readonly from: string;
  readonly to: string;
  readonly buckets: readonly Bucket[];
};

export const BUCKETS_MAX = 1_500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STEP_MS = { "1m": MINUTE_MS, "1h": HOUR_MS } as const;
const DEFAULT_SPAN_MS: Readonly<Record<StepName, number>> = { "1m": HOUR_MS, "1h": DAY_MS, "1d": 30 * DAY_MS };
/** Another node's clock may be ahead, so the oldest places may have been taken already. */
const OLDEST_PLACES = 2;

const keptFrom = (step: "1m" | "1h", nowMs: number): number =>
  (Math.floor(nowMs / STEP_MS[step]) - PLACES[STEPS[step]] + OLDEST_PLACES) * STEP_MS[step];

/** The finest step that is kept for the whole range, without more than some hundred buckets. */
const stepFor = (fromMs: number, spanMs: number, nowMs: number): StepName => {
  if (spanMs <= 3 * HOUR_MS && fromMs >= keptFrom("1m", nowMs)) return "1m";
  return spanMs <= 7 * DAY_MS && fromMs >= keptFrom("1h", nowMs) ? "1h" : "1d";
};

const regular = (step: "1m" | "1h", fromMs: number, toMs: number): StatsRange | Problem => {
  const size = STEP_MS[step];
  const [first, end] = [Math.floor(fromMs / size), Math.ceil(toMs / size)];
  if (end - first > BUCKETS_MAX) return tooMany();
  const buckets = Array.from({ length: end - first }, (_, n) => iso((first + n) * size)).map((at) => ({ key: at, at }));
  return { step, from: iso(first * size), to: iso(end * size), buckets };
};

const tooMany = (): Problem =>
  invalid("step", `makes more than ${BUCKETS_MAX} points of this range: ask for a larger step or a shorter range`);

const daily = (timeZone: string, fromMs: number, toMs: number): StatsRange | Problem => {
  const first = dayIn(timeZone, fromMs);
  const end = daysLater(dayIn(timeZone, toMs - 1), 1);
  if ((Date.parse(end) - Date.parse(first)) / DAY_MS > BUCKETS_MAX) return tooMany();
  const buckets: Bucket[] = [];
  for (let day = first; day < end; day = daysLater(day, 1))
    buckets.push({ key: `${day}T00:00:00.000Z`, at: iso(dayStart(timeZone, day)) });
  return { step: "1d", from: iso(dayStart(timeZone, first)), to: iso(dayStart(timeZone, end)), buckets };
};

/** The buckets that cover the range which was asked for. */
export const statsRange = (
  query: Readonly<Record<string, unknown>>,
  timeZone: string,
  nowMs: number,
): StatsRange | Problem => {
  const given = timeRangeOf(query);
  if ("problem" in given) return given;
  // The schema of the query has no other steps.
  const asked = query.step as StepName | undefined;
  const toMs = given.to === null ? nowMs : Date.parse(given.to);
  const fromMs = given.from === null ? toMs - DEFAULT_SPAN_MS[asked ?? "1h"] : Date.parse(given.from);
  if (fromMs >= toMs) return invalid("to", "must be later than from");
  const step = asked ?? stepFor(fromMs, toMs - fromMs, nowMs);
  if (step === "1d") return daily(timeZone, fromMs, toMs);
  const kept = keptFrom(step, nowMs);
  if (Math.floor(fromMs / STEP_MS[step]) * STEP_MS[step] < kept)
    return invalid("from", `must not be before ${iso(kept)} with this step: ask for a larger step`);
  return regular(step, fromMs, toMs);
};
