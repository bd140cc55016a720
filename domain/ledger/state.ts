import type { Carried, Entry, LedgerEvent } from "./events.ts";
import { isSettledBy, withoutReleased } from "./reservations.ts";

/** Settled places are remembered as long as a request may live, so that a repeated reservation is recognised. */
export const WINDOW_MS = 60_000;

/** `cost` in micro-euros: what is reserved, or what was spent once the place is settled. */
export type Place = {
  readonly at: number;
  cost: number;
  readonly places: number;
  /** Numbers of reservations, ascending: all requests for one event share its place. Empty once it is settled. */
  reservations: readonly number[];
  settled: boolean;
  revision: number;
};

/** Money in micro-euros, times in ms since 1970. It changes in place, because copying the window takes too long. */
export type Ledger = {
  readonly windowMs: number;
  closed: boolean;
  reserved: number;
  settled: number;
  /** The part of `settled` beyond the reserved cost. */
  overrun: number;
  budget: number | null;
  /** The highest threshold reached, in percent; 0 before the first. */
  reached: number;
  /** These three count places, of which one event may take several. */
  openCount: number;
  settledCount: number;
  recentCount: number;
  lastAt: number;
  reservation: number;
  /** Places of the last `windowMs`, oldest first, without released ones. */
  readonly recent: Map<string, Place>;
  readonly open: Map<string, Place>;
  readonly charged: Set<string>;
};

/** A minute under full load has a hundred thousand settled places, whose own lists would take a quarter of their memory. */
const NONE: readonly number[] = [];

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

const carry = (ledger: Ledger, { carried, counts }: Carried, revision: number): number => {
  let at = 0;
  for (const [index, step] of carried.entries()) {
    at += step;
    const places = counts?.[index] ?? 1;
    enterWindow(ledger, `carried/${index}`, { at, cost: 0, places, reservations: [], settled: true, revision });
  }
  return at;
};

export const evolveLedger = (ledger: Ledger, record: LedgerEvent, revision: number): void => {
  switch (record.type) {
    case "LedgerOpened":
      // Carried places count in the window alone: their money was spent on the day before.
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
        place.reservations = NONE;
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
