import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { type Histogram, NO_DURATIONS, withDuration } from "./histogram.ts";
import { type Documents, documentOf, eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** Counts of all accounts together, so that they say nothing about any one account. */
export type StatusCounts = {
  readonly admitted: number;
  readonly blocked: number;
  readonly delivered: number;
  readonly failed: number;
};

/** `latency` is the time from an event's admission to the end of its successful delivery. */
export type StatusHour = StatusCounts & { readonly latency: Histogram };

export type Health = "operational" | "degraded" | "down";

/** Each node that delivers appends one such record to `checkpoint-status` every `STATUS_PERIOD_MS`. */
export type StatusObserved = {
  readonly type: "StatusObserved";
  readonly data: { readonly status: Health; readonly at: string };
};

/** Number of a day's periods with each health. In a period that is missing between `first` and `last`, no node ran. */
export type StatusHealth = Readonly<Record<Health, number>> & {
  /** Number of the first observed period of the day (UTC), and (`last`) of the last one. */
  readonly first: number;
  readonly last: number;
};

export const STATUS_STREAM = "checkpoint-status";
/** Short enough to show an outage, and long enough that the observations cost nothing. */
export const STATUS_PERIOD_MS = 5 * 60_000;

export const DAYS_KEPT = 90;
/** The status page shows 24 hours and compares them with the 24 hours before. */
const HOURS_KEPT = 48;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `at` is a time of ISO 8601 in UTC. */
export const hourId = (at: string): string => `hour/${at.slice(0, "YYYY-MM-DDTHH".length)}`;
export const dayId = (at: string): string => `day/${at.slice(0, "YYYY-MM-DD".length)}`;
export const healthId = (at: string): string => `health/${at.slice(0, "YYYY-MM-DD".length)}`;
/** The number of the period at this time, counted from midnight (UTC). */
export const statusPeriodOf = (at: string): number => Math.floor((Date.parse(at) % DAY_MS) / STATUS_PERIOD_MS);

const COUNTED = {
  EventAdmitted: "admitted",
  EventReleased: "admitted",
  EventBlocked: "blocked",
  EventDelivered: "delivered",
  DeliveryFailed: "failed",
} as const satisfies Partial<Record<DeliveryEvent["type"], keyof StatusCounts>>;

type CountedEvent = Extract<DeliveryEvent, { type: keyof typeof COUNTED }>;

/** A request that was held again was counted when it was released first. */
const isReleasedAgain = ({ type, data }: RecordedEvent): boolean =>
  type === "EventReleased" && data.attempts !== undefined;

const countedIn = (recorded: RecordedEvent): CountedEvent | null =>
  // `hasOwn`, because an event type may be called "constructor", which every object has.
  Object.hasOwn(COUNTED, recorded.type) && deliveryOf(recorded) !== null && !isReleasedAgain(recorded)
    ? eventOf<CountedEvent>(recorded)
    : null;

const NOTHING: StatusCounts = { admitted: 0, blocked: 0, delivered: 0, failed: 0 };

const counted = <D extends StatusCounts>(document: D, { type }: CountedEvent): D => ({
  ...document,
  [COUNTED[type]]: document[COUNTED[type]] + 1,
});

const back = (at: string, ms: number): string => new Date(Date.parse(at) - ms).toISOString();

type StatusDocuments = Documents<StatusHour | StatusCounts | StatusHealth>;

const applyHour = (event: CountedEvent, documents: StatusDocuments): void => {
  const { at } = event.data;
  const id = hourId(at);
  const stored = documentOf<StatusHour>(documents, id);
  if (stored === null) documents.put(hourId(back(at, HOURS_KEPT * HOUR_MS)), null);
  const hour = counted(stored ?? { ...NOTHING, latency: NO_DURATIONS }, event);
  if (event.type === "EventDelivered") {
    const ms = Date.parse(at) - Date.parse(event.data.admitted_at);
    documents.put(id, { ...hour, latency: withDuration(hour.latency, ms) });
  } else documents.put(id, hour);
};

const applyDay = (event: CountedEvent, documents: StatusDocuments): void => {
  const { at } = event.data;
  const id = dayId(at);
  const stored = documentOf<StatusCounts>(documents, id);
  if (stored === null) documents.put(dayId(back(at, DAYS_KEPT * DAY_MS)), null);
  documents.put(id, counted(stored ?? NOTHING, event));
};

const observedIn = (recorded: RecordedEvent): StatusObserved["data"] | null =>
  recorded.stream === STATUS_STREAM && recorded.type === "StatusObserved"
    ? eventOf<StatusObserved>(recorded).data
    : null;

const applyHealth = ({ status: found, at }: StatusObserved["data"], documents: StatusDocuments): void => {
  const id = healthId(at);
  const period = statusPeriodOf(at);
  const stored = documentOf<StatusHealth>(documents, id);
  if (stored === null) documents.put(healthId(back(at, DAYS_KEPT * DAY_MS)), null);
  const before = stored ?? { operational: 0, degraded: 0, down: 0, first: period, last: -1 };
  // Several nodes may observe one period; only the first observation counts.
  if (period <= before.last) return;
  documents.put(id, { ...before, [found]: before[found] + 1, last: period });
};

/** A document for each hour and two for each day, which are removed after `HOURS_KEPT` and `DAYS_KEPT`. */
export const status: Projection<StatusHour | StatusCounts | StatusHealth> = {
  schema: { name: "status.v1", fields: {}, indexes: [] },
  idsOf: (recorded) => {
    const observed = observedIn(recorded);
    if (observed !== null) return [healthId(observed.at)];
    const event = countedIn(recorded);
    return event === null ? [] : [hourId(event.data.at), dayId(event.data.at)];
  },
  apply(recorded, documents) {
    const observed = observedIn(recorded);
    if (observed !== null) return applyHealth(observed, documents);
    const event = countedIn(recorded);
    if (event === null) return;
    applyHour(event, documents);
    applyDay(event, documents);
  },
};
