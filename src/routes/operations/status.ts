import type { Clock } from "../../../domain/ports/clock.ts";
import type { Document, ViewStore } from "../../../domain/ports/view-store.ts";
import { merged, percentile, sizeOf } from "../../../projections/histogram.ts";
import {
  DAYS_KEPT,
  dayId,
  type Health,
  healthId,
  hourId,
  STATUS_PERIOD_MS,
  type StatusCounts,
  type StatusHealth,
  type StatusHour,
  status,
  statusPeriodOf,
} from "../../../projections/status.ts";
import { nullable, object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { Answer, JsonSchema, Route } from "../../http/route.ts";
import { STATUS_CSP, type StatusBody, statusPage } from "./status-page.ts";

export type Component = { readonly name: string; readonly check: () => Promise<Health> };

export type StatusDeps = {
  readonly views: Pick<ViewStore, "getMany">;
  readonly clock: Clock;
  /** The parts of the service under their public names. If one of them is down, the service is shown as down. */
  readonly components: readonly Component[];
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A smaller count is hidden: it could identify a tenant. Larger ones are rounded to tens, so that none is derived. */
const COUNT_SHOWN_MIN = 10;
/** A day with so many bad checks still counts as good: they are five minutes apart, and a restart may spoil two. */
const DEGRADED_CHECKS_MAX = 2;
const DOWN_SHARE = 0.5;
const PERIODS_A_DAY = DAY_MS / STATUS_PERIOD_MS;
/** The public answer is computed at most once in this time, and may be cached as long. */
const MAX_AGE_S = 15;
const CHECK_TIMEOUT_MS = 1_000;

const shownCount = (count: number): number | string =>
  count < COUNT_SHOWN_MIN ? `<${COUNT_SHOWN_MIN}` : count - (count % COUNT_SHOWN_MIN);

const NOTHING: StatusCounts = { admitted: 0, blocked: 0, delivered: 0, failed: 0 };

const sum = (all: readonly StatusCounts[]): StatusCounts =>
  all.reduce(
    (total, { admitted, blocked, delivered, failed }) => ({
      admitted: total.admitted + admitted,
      blocked: total.blocked + blocked,
      delivered: total.delivered + delivered,
      failed: total.failed + failed,
    }),
    NOTHING,
  );

/** The share of deliveries that succeeded; null if there were too few to show. */
const successRate = ({ delivered, failed }: StatusCounts): number | null =>
  delivered + failed < COUNT_SHOWN_MIN ? null : delivered / (delivered + failed);

const DECIMALS_MAX = 4;

/** Rounded down to so few places that the last one stands for ten deliveries or more; null if there were too few. */
const roundedRate = (counts: StatusCounts): number | null => {
  const decimals = Math.min(DECIMALS_MAX, Math.floor(Math.log10((counts.delivered + counts.failed) / COUNT_SHOWN_MIN)));
  const rate = successRate(counts);
  return rate === null || decimals < 1 ? null : Math.floor(rate * 10 ** decimals) / 10 ** decimals;
};

const last24h = (hours: readonly StatusHour[]) => {
  const total = sum(hours);
  const latency = merged(hours.map((hour) => hour.latency));
  const enough = sizeOf(latency) >= COUNT_SHOWN_MIN;
  return {
    admitted: shownCount(total.admitted),
    blocked: shownCount(total.blocked),
    delivered: shownCount(total.delivered),
    failed: shownCount(total.failed),
    delivery_success_rate: roundedRate(total),
    delivery_p50_ms: enough ? percentile(latency, 0.5) : null,
    delivery_p99_ms: enough ? percentile(latency, 0.99) : null,
  };
};

/** `from` and `to` are numbers of five-minute periods of the day; each one between should have a check. */
const healthOfDay = (found: StatusHealth | undefined, from: number, to: number): Health => {
  const { operational, degraded, down } = found ?? { operational: 0, degraded: 0, down: 0 };
  // The period that has just begun may have its check already, so there can be one more than expected.
  const missing = Math.max(0, to - from - operational - degraded - down);
  if (down + missing >= DOWN_SHARE * PERIODS_A_DAY) return "down";
  return degraded + down + missing > DEGRADED_CHECKS_MAX ? "degraded" : "operational";
};

const dayShown = (date: string, health: Health, observed: boolean, counts: StatusCounts) => ({
  date,
  status: health,
  observed,
  admitted: shownCount(counts.admitted),
  delivered: shownCount(counts.delivered),
  failed: shownCount(counts.failed),
});

const healthOf = async ({ name, check }: Component): Promise<{ name: string; status: Health }> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve("down"), CHECK_TIMEOUT_MS);
  });
  try {
    return { name, status: await Promise.race([check(), late]) };
  } catch {
    return { name, status: "down" };
  } finally {
    clearTimeout(timer);
  }
};

const overall = (components: readonly { status: Health }[]): Health => {
  if (components.every((component) => component.status === "operational")) return "operational";
  return components[0]?.status === "down" ? "down" : "degraded";
};

export const statusNow = async (components: readonly Component[]): Promise<Health> =>
  overall(await Promise.all(components.map(healthOf)));

const range = (count: number, stepMs: number, now: number): string[] =>
  Array.from({ length: count }, (_, i) => new Date(now - i * stepMs).toISOString());

/** Days, newest first. `observed` is false for days before the first check of all. */
const dayAnswers = (days: readonly string[], documents: ReadonlyMap<string, Document>, now: number) => {
  // A document with the id of a day's health has the type that the projection puts.
  const healthAt = (at: string) => documents.get(healthId(at)) as StatusHealth | undefined;
  const firstLook = days.findLastIndex((at) => healthAt(at) !== undefined);
  return days.map((at, index) => {
    const counts = (documents.get(dayId(at)) as StatusCounts | undefined) ?? NOTHING;
    const observed = index <= firstLook;
    const found = healthAt(at);
    const from = index === firstLook ? (found?.first ?? 0) : 0;
    const to = index === 0 ? statusPeriodOf(new Date(now).toISOString()) : PERIODS_A_DAY;
    const health = observed ? healthOfDay(found, from, to) : "operational";
    return dayShown(at.slice(0, "YYYY-MM-DD".length), health, observed, counts);
  });
};

const made = async ({ views, clock, components }: StatusDeps): Promise<Answer> => {
  const now = clock.now();
  const hours = range(24, HOUR_MS, now).map(hourId);
  const range90 = range(DAYS_KEPT, DAY_MS, now);
  const checks = Promise.all(components.map(healthOf));
  // The status must be shown even if the views cannot be read.
  const documents = await views
    .getMany(status.schema.name, [...hours, ...range90.map(dayId), ...range90.map(healthId)])
    .catch(() => new Map<string, Document>());
  const checked = await checks;
  // A document with the id of an hour has the type that the projection puts.
  const found = hours.flatMap((id) => (documents.get(id) as StatusHour | undefined) ?? []);
  const body = {
    status: overall(checked),
    updated_at: new Date(now).toISOString(),
    components: checked,
    last_24h: last24h(found),
    days: dayAnswers(range90, documents, now),
  };
  return { status: 200, body, headers: { "cache-control": `public, max-age=${MAX_AGE_S}` } };
};

const count: JsonSchema = {
  type: ["integer", "string"],
  description: `In tens, rounded down; "<${COUNT_SHOWN_MIN}" below ${COUNT_SHOWN_MIN}`,
};
const health: JsonSchema = { enum: ["operational", "degraded", "down"] };
const SUMMARY = named(
  "StatusSummary",
  object({
    status: health,
    updated_at: { type: "string", format: "date-time" },
    components: { type: "array", items: object({ name: text, status: health }) },
    last_24h: object({
      admitted: count,
      blocked: count,
      delivered: count,
      failed: count,
      delivery_success_rate: nullable("number"),
      delivery_p50_ms: nullable("number"),
      delivery_p99_ms: nullable("number"),
    }),
    days: {
      type: "array",
      items: object({
        date: text,
        status: health,
        observed: { type: "boolean", description: "Whether the service checked itself by then" },
        admitted: count,
        delivered: count,
        failed: count,
      }),
    },
  }),
);

export const statusRoutes = (deps: StatusDeps): readonly Route[] => {
  let latest: { readonly answer: Promise<Answer>; readonly madeAt: number } | null = null;
  const answer = (): Promise<Answer> => {
    const now = deps.clock.now();
    const age = latest === null ? Number.POSITIVE_INFINITY : now - latest.madeAt;
    // After the clock was set back the age is negative, and the answer is computed anew.
    if (latest === null || age < 0 || age >= MAX_AGE_S * 1_000) latest = { answer: made(deps), madeAt: now };
    return latest.answer;
  };
  return [
    {
      method: "GET",
      path: "/public/status/summary",
      who: "anyone",
      summary: "The service's status, without tenant data",
      tag: "operations",
      answers: { 200: SUMMARY },
      handle: answer,
    },
    {
      method: "GET",
      path: "/status",
      who: "anyone",
      summary: "The status as a web page",
      tag: "operations",
      answers: { 200: text },
      produces: "text/html",
      async handle() {
        const { body, headers } = await answer();
        const page = {
          ...headers,
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": STATUS_CSP,
        };
        // `made` builds this body, so it is a `StatusBody`.
        return { status: 200, body: Buffer.from(statusPage(body as StatusBody)), headers: page };
      },
    },
  ];
};
