import type { Carried, Entry, LedgerEvent } from "./events.ts";
import { isSettledBy, withoutReleased } from "./reservations.ts";

/** The sliding window of `rate_per_minute`, and of every ledger that is not told another; also how long a settled place is
 * remembered, so that reserving again within it is recognised as the same reservation. A request lives shorter than this. */
export const WINDOW_MS = 60_000;

/** What an event holds. `cost`: what it reserves, or was settled for; settled: it is spent and no longer given back. */
export type Place = {
  readonly at: number;
  cost: number;
  /** As how many it counts: the steps of a bundle, else one. */
  readonly places: number;
  /** The numbers of the reservations that hold the place, ascending: requests for one event share its place. */
  reservations: readonly number[];
  settled: boolean;
  /** Where in the stream it was first reserved, so that a checkpoint knows how far back the window reaches. */
  revision: number;
};

/**
 * What a ledger's stream says so far. Money in micro-euros, times in ms since 1970. It is changed in place, as copying
 * the last minute's entries for each record would make every admission cost as much as all those before it.
 */
export type Ledger = {
  /** How long a place counts against a rate. */
  readonly windowMs: number;
  closed: boolean;
  /** Sums over the open and the settled places. */
  reserved: number;
  settled: number;
  /** What was settled beyond what had been reserved for it: a part of `settled`. */
  overrun: number;
  /** What all of it may cost, as it was last told; null for any amount. */
  budget: number | null;
  /** The highest threshold of the budget that was reached, in percent; 0 before the first. */
  reached: number;
  /** Places, not events, as `recentCount` counts those of `recent`. */
  openCount: number;
  settledCount: number;
  recentCount: number;
  lastAt: number;
  /** The number of the newest reservation; 0 before the first. */
  reservation: number;
  /** Of the last `windowMs`, oldest first, released ones taken out. */
  readonly recent: Map<string, Place>;
  /** All that is neither settled nor released, however old. */
  readonly open: Map<string, Place>;
  /** Names of what was charged, however long ago: the same again is no second charge. */
  readonly charged: Set<string>;
};

export const emptyLedger = (windowMs = WINDOW_MS): Ledger => ({
  windowMs,
  closed: false,
  reserved: 0,
  settled: 0,
  overrun: 0,
  budget: null,
  reached: 0,
  openCount: 0,
  settledCount: 0,
  recentCount: 0,
  lastAt: 0,
  reservation: 0,
  recent: new Map(),
  open: new Map(),
  charged: new Set(),
});

export const enterWindow = (ledger: Ledger, event: string, place: Place): void => {
  ledger.recent.set(event, place);
  ledger.recentCount += place.places;
};

const leaveWindow = (ledger: Ledger, event: string): void => {
  ledger.recentCount -= ledger.recent.get(event)?.places ?? 0;
  ledger.recent.delete(event);
};

const prune = (ledger: Ledger): void => {
  for (const [event, place] of ledger.recent) {
    if (place.at > ledger.lastAt - ledger.windowMs) return;
    leaveWindow(ledger, event);
  }
};

const reserve = (ledger: Ledger, entry: Entry, revision: number): void => {
  ledger.reservation = Math.max(ledger.reservation, entry.reservation);
  const known = ledger.open.get(entry.event) ?? ledger.recent.get(entry.event);
  if (known !== undefined) {
    known.reservations = [...known.reservations, entry.reservation];
    // The same event at a higher cost takes the difference.
    if (ledger.open.has(entry.event) && entry.cost > known.cost) {
      ledger.reserved += entry.cost - known.cost;
      known.cost = entry.cost;
    }
    return;
  }
  const { event, at, cost, places = 1, reservation } = entry;
  const place: Place = { at, cost, places, reservations: [reservation], settled: false, revision };
  enterWindow(ledger, event, place);
  ledger.open.set(event, place);
  ledger.reserved += cost;
  ledger.openCount += places;
  ledger.lastAt = Math.max(ledger.lastAt, at);
};

const close = (ledger: Ledger, event: string, { cost, places }: Place): void => {
  ledger.open.delete(event);
  ledger.reserved -= cost;
  ledger.openCount -= places;
};

/** Adds the places of the day before to the window; answers the time of the last. */
const carry = (ledger: Ledger, { carried, counts }: Carried, revision: number): number => {
  let at = 0;
  for (const [index, step] of carried.entries()) {
    at += step;
    const places = counts?.[index] ?? 1;
    enterWindow(ledger, `carried/${index}`, { at, cost: 0, places, reservations: [], settled: true, revision });
  }
  return at;
};

/** Applies one record of the stream, in place. */
export const evolveLedger = (ledger: Ledger, record: LedgerEvent, revision: number): void => {
  switch (record.type) {
    case "LedgerOpened":
      // Carried entries count in the sliding minute only: their money was spent on the day before.
      ledger.lastAt = Math.max(ledger.lastAt, carry(ledger, record.data, revision));
      return;
    case "Reserved":
      if (record.data.budget !== undefined) ledger.budget = record.data.budget;
      for (const entry of record.data.entries) reserve(ledger, entry, revision);
      prune(ledger);
      return;
    case "Settled":
      for (const settlement of record.data.entries) {
        const { event, cost } = settlement;
        const place = ledger.open.get(event);
        if (place === undefined || !isSettledBy(place.reservations, settlement)) continue;
        close(ledger, event, place);
        ledger.settled += cost;
        ledger.overrun += Math.max(0, cost - place.cost);
        place.settled = true;
        place.cost = cost;
        ledger.settledCount += place.places;
      }
      return;
    case "Charged":
      for (const { event, cost } of record.data.entries) {
        ledger.charged.add(event);
        ledger.settled += cost;
        ledger.overrun += cost;
      }
      return;
    case "Released":
      for (const release of record.data.entries) {
        const { event } = release;
        const place = ledger.open.get(event);
        if (place === undefined) continue;
        place.reservations = withoutReleased(place.reservations, release);
        if (place.reservations.length > 0) continue;
        close(ledger, event, place);
        leaveWindow(ledger, event);
      }
      return;
    case "BudgetThresholdReached":
      ledger.budget = record.data.limit;
      ledger.reached = Math.max(ledger.reached, record.data.threshold);
      return;
    case "LedgerClosed":
      ledger.closed = true;
  }
};

/** What the next day's ledger is opened with (`LedgerOpened`): the times of the places still in the window at `now`. */
export const carriedFrom = (ledger: Ledger, now: number): Carried => {
  const carried: number[] = [];
  const counts: number[] = [];
  let before = 0;
  let isEachOne = true;
  for (const { at, places } of ledger.recent.values()) {
    if (at <= now - ledger.windowMs) continue;
    isEachOne &&= places === 1 && at !== before;
    if (at === before) {
      counts.push((counts.pop() ?? 0) + places);
      continue;
    }
    carried.push(at - before);
    counts.push(places);
    before = at;
  }
  return isEachOne ? { carried } : { carried, counts };
};
