import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { type Histogram, NO_DURATIONS, withDuration } from "./histogram.ts";
import { type Documents, documentOf, eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** The counts of all accounts together, without reference to any account. */
export type StatusCounts = {
  readonly admitted: number;
  readonly blocked: number;
  readonly delivered: number;
  readonly failed: number;
};

/** `latency`: from admission to the end of the successful delivery. */
export type StatusHour = StatusCounts & { readonly latency: Histogram };

export type Health = "operational" | "degraded" | "down";

/** The stream `checkpoint-status` has one observation for each `STATUS_PERIOD_MS`, by any node. */
export type StatusObserved = {
  readonly type: "StatusObserved";
  readonly data: { readonly status: Health; readonly at: string };
};

/** The number of a day's periods with each health; no node ran in missing periods. */
export type StatusHealth = Readonly<Record<Health, number>> & {
  /** Periods since midnight (UTC) of the first and the last observation. */
  readonly first: number;
  readonly last: number;
};

export const STATUS_STREAM = "checkpoint-status";
/** Short enough to notice an outage, long enough that observing costs nothing. */
export const STATUS_PERIOD_MS = 5 * 60_000;

export const DAYS_KEPT = 90;
/** The page shows 24 hours and compares with the day before. */
const HOURS_KEPT = 48;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `at` is ISO-8601 UTC. */
export const hourId = (at: string): string => `hour/${at.slice(0, "YYYY-MM-DDTHH".length)}`;
export const dayId = (at: string): string => `day/${at.slice(0, "YYYY-MM-DD".length)}`;
export const healthId = (at: string): string => `health/${at.slice(0, "YYYY-MM-DD".length)}`;
/** Periods since midnight (UTC). */
export const statusPeriodOf = (at: string): number => Math.floor((Date.parse(at) % DAY_MS) / STATUS_PERIOD_MS);

const COUNTED = {
  EventAdmitted: "admitted",
  EventReleased: "admitted",
  EventBlocked: "blocked",
  EventDelivered: "delivered",
  DeliveryFailed: "failed",
} as const satisfies Partial<Record<DeliveryEvent["type"], keyof StatusCounts>>;

type CountedEvent = Extract<DeliveryEvent, { type: keyof typeof COUNTED }>;

/** A request that was held again was counted at its first release. */
const isReleasedAgain = ({ type, data }: RecordedEvent): boolean =>
  type === "EventReleased" && data.attempts !== undefined;

const countedIn = (recorded: RecordedEvent): CountedEvent | null =>
  // Own keys only: an event type may be called "constructor".
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
  // The first node's observation of a period counts.
  if (period <= before.last) return;
  documents.put(id, { ...before, [found]: before[found] + 1, last: period });
};

/** A document for each hour and two for each day; old ones are removed. */
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
