import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { Document, LoadedDocument } from "../domain/ports/view-store.ts";
import { binOf, FINE_BITS, type Histogram, merged, NO_DURATIONS } from "./histogram.ts";
import type { DocumentChange, Totals } from "./projection.ts";
import { REFUSED_BUNDLE, type StatsAccount, type StatsEvent } from "./stats-event.ts";

export const STATS_BY = ["all", "source", "agent", "endpoint", "action", "policy", "gate"] as const;
export type StatsBy = (typeof STATS_BY)[number];

export const STATS_STEPS = ["minute", "hour", "day"] as const;
export type StatsStep = (typeof STATS_STEPS)[number];

/**
 * What became of the requests that one account received in one bucket of time, so far as they have this key: numbers of
 * events by status, of which those that are zero are missing.
 */
export type StatsBucket = Partial<Readonly<Record<DeliveryStatus, number>>> & {
  readonly account: string;
  readonly by: StatsBy;
  /** The id or name by which the events are grouped; empty for all events. */
  readonly key: string;
  readonly step: StatsStep;
  /** `seriesOf` the three, by which buckets are found. */
  readonly series: string;
  /** The bucket's beginning in UTC; of a day, its date at midnight UTC, wherever the account is. */
  readonly at: string;
  /** Bundles that are refused as one. */
  readonly bundles_blocked?: number;
  readonly attempts?: number;
  /** Micro-euros of the events that passed (`PASSED`). */
  readonly cost?: number;
  /** Micro-euros of the events that are held or still to be sent (`UNFINISHED`). */
  readonly reserved?: number;
  /** Micro-euros of the events that have ended after they passed. */
  readonly spent?: number;
  /** Of the delivered events, with `FINE_BITS`. */
  readonly latency?: Histogram;
};

/** The statuses of events that gates and people have let through, and that were not cancelled. */
export const PASSED: ReadonlySet<StatsEvent["status"]> = new Set<DeliveryStatus>([
  "queued",
  "delivering",
  "retrying",
  "delivered",
  "failed",
  "recorded",
]);

/** The statuses of events whose cost is set aside until they end. */
export const UNFINISHED: ReadonlySet<StatsEvent["status"]> = new Set<DeliveryStatus>([
  "held",
  "queued",
  "delivering",
  "retrying",
]);

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** 48 hours of minutes and 100 days of hours. A bucket has a fixed place among so many, and is overwritten in turn. */
export const PLACES = { minute: 48 * 60, hour: 100 * 24 } as const;
const STEP_MS = { minute: MINUTE_MS, hour: HOUR_MS } as const;

export const seriesOf = (account: string, by: StatsBy, step: StatsStep): string => `${account}/${by}/${step}`;

type Place = { readonly id: string; readonly step: StatsStep; readonly at: string };

const placesOf = ({ account, by, key, minute, day }: Sum): readonly Place[] => {
  const placed = (step: "minute" | "hour"): Place => {
    const number = Math.floor((minute * MINUTE_MS) / STEP_MS[step]);
    return {
      id: `${seriesOf(account, by, step)}/${number % PLACES[step]}/${key}`,
      step,
      at: new Date(number * STEP_MS[step]).toISOString(),
    };
  };
  const ofDay = {
    id: `${seriesOf(account, by, "day")}/${day}/${key}`,
    step: "day",
    at: `${day}T00:00:00.000Z`,
  } as const;
  return [placed("minute"), placed("hour"), ofDay];
};

type Counter = StatsEvent["status"] | "attempts" | "cost" | "reserved" | "spent";

/** What the changes of a page add up to for one key and minute. */
type Sum = {
  readonly account: string;
  readonly by: StatsBy;
  readonly key: string;
  /** Number of the minute since 1970. */
  readonly minute: number;
  readonly day: string;
  readonly counts: Map<Counter, number>;
  readonly latencies: number[];
};

const refusingGateOf = ({ status, gate }: StatsEvent): string | null =>
  status === "blocked" || status === REFUSED_BUNDLE ? gate : null;

const keysOf = (event: StatsEvent): readonly (readonly [StatsBy, string | null])[] => [
  ["all", ""],
  [event.origin_kind, event.origin_id],
  ["endpoint", event.endpoint_id],
  ["action", event.action],
  ["policy", event.policy_id],
  ["gate", refusingGateOf(event)],
];

const counted = ({ counts }: Sum, name: Counter, by: number): void => {
  if (by !== 0) counts.set(name, (counts.get(name) ?? 0) + by);
};

/** By account, minute and day: by what the events are grouped, and then by key. */
type Sums = Map<string, Map<StatsBy, Map<string, Sum>>>;

/** The value of the key, which is made if there is none. */
const valueAt = <K, V>(values: Map<K, V>, key: K, make: () => V): V => {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
};

const withEvent = (sums: Sums, event: StatsEvent, sign: 1 | -1): void => {
  const { account, day, received_at, status, attempts, cost, latency } = event;
  const minute = Math.floor(Date.parse(received_at) / MINUTE_MS);
  // A minute belongs to two days if the account's zone was changed within it.
  const ofMinute = valueAt(sums, `${account}/${minute}/${day}`, () => new Map<StatsBy, Map<string, Sum>>());
  for (const [by, key] of keysOf(event)) {
    if (key === null) continue;
    const ofKind = valueAt(ofMinute, by, () => new Map<string, Sum>());
    const sum = valueAt(ofKind, key, () => ({ account, by, key, minute, day, counts: new Map(), latencies: [] }));
    counted(sum, status, sign);
    counted(sum, "attempts", sign * attempts);
    const euros = sign * (cost ?? 0);
    if (PASSED.has(status)) counted(sum, "cost", euros);
    if (UNFINISHED.has(status)) counted(sum, "reserved", euros);
    else if (PASSED.has(status)) counted(sum, "spent", euros);
    // A delivered event stays delivered, so its latency is never taken back.
    if (latency !== null && sign === 1) sum.latencies.push(latency);
  }
};

type Stored = StatsBucket & Document;

type Changes = readonly DocumentChange<StatsEvent | StatsAccount>[];

/** The account's document contributes to nothing. */
const eventIn = (document: StatsEvent | StatsAccount | null): StatsEvent | null =>
  document !== null && "received_at" in document ? document : null;

type EventChange = { readonly before: StatsEvent | null; readonly after: StatsEvent | null };

const haveSameKeys = (a: StatsEvent | null, b: StatsEvent | null): boolean =>
  a !== null &&
  b !== null &&
  a.origin_kind === b.origin_kind &&
  a.origin_id === b.origin_id &&
  a.endpoint_id === b.endpoint_id &&
  a.action === b.action &&
  a.policy_id === b.policy_id &&
  refusingGateOf(a) === refusingGateOf(b);

/** Successive changes of one event become one, as long as the event keeps its keys, so that each total is touched. */
const netChanges = (changes: Changes): readonly EventChange[] => {
  const net: EventChange[] = [];
  const latest = new Map<string, number>();
  for (const change of changes) {
    const [before, after] = [eventIn(change.before), eventIn(change.after)];
    const index = latest.get(change.id);
    const joined = index === undefined ? undefined : net[index];
    if (index !== undefined && joined !== undefined && haveSameKeys(joined.after, after))
      net[index] = { before: joined.before, after };
    else latest.set(change.id, net.push({ before, after }) - 1);
  }
  return net;
};

const sumsOf = (changes: Changes): readonly Sum[] => {
  const sums: Sums = new Map();
  for (const { before, after } of netChanges(changes)) {
    if (before !== null) withEvent(sums, before, -1);
    if (after !== null) withEvent(sums, after.latency === before?.latency ? { ...after, latency: null } : after, 1);
  }
  return [...sums.values()].flatMap((ofMinute) => [...ofMinute.values()].flatMap((ofKind) => [...ofKind.values()]));
};

const histogramOf = (latencies: readonly number[]): Histogram =>
  merged(latencies.map((ms) => [binOf(ms, FINE_BITS), 1]));

const added = ({ account, by, key, counts, latencies }: Sum, { step, at }: Place, total: StatsBucket | null) => {
  const series = seriesOf(account, by, step);
  const next: Record<string, unknown> = total?.at === at ? { ...total } : { account, by, key, step, series, at };
  for (const [name, change] of counts) {
    const value = Number(next[name] ?? 0) + change;
    if (value === 0) delete next[name];
    else next[name] = value;
  }
  if (latencies.length > 0)
    next.latency = merged([total?.at === at ? (total.latency ?? NO_DURATIONS) : NO_DURATIONS, histogramOf(latencies)]);
  // All members are set above, as those of a bucket.
  return next as Stored;
};

type Placed = { readonly sum: Sum; readonly place: Place };

const placedOf = (changes: Changes): readonly Placed[] =>
  sumsOf(changes).flatMap((sum) => placesOf(sum).map((place) => ({ sum, place })));

type Loaded = ReadonlyMap<string, LoadedDocument>;

const foldInto = (
  folded: Map<string, Stored>,
  loaded: Loaded,
  placed: readonly Placed[],
  contains: (id: string) => boolean,
): void => {
  for (const { sum, place } of placed) {
    const { id, at } = place;
    // A total's id is no other document's.
    const total = folded.get(id) ?? ((loaded.get(id)?.document ?? null) as Stored | null);
    // The place may belong to a later time by now.
    if (!contains(id) && (total === null || total.at <= at)) folded.set(id, added(sum, place, total));
  }
};

export const statsTotals: Totals<StatsEvent | StatsAccount> = {
  sum(changes) {
    const placed = placedOf(changes);
    return {
      ids: [...new Set(placed.map(({ place }) => place.id))],
      fold(loaded) {
        const folded = new Map<string, Stored>();
        const isAhead = [...loaded.values()].some(({ position }) => position !== null);
        if (!isAhead) foldInto(folded, loaded, placed, () => false);
        else
          for (const change of changes)
            foldInto(folded, loaded, placedOf([change]), (id) => (loaded.get(id)?.position ?? "") >= change.position);
        return folded;
      },
    };
  },

  isFinal: (document) => "is_final" in document,
};
