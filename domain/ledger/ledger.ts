import type { Carried, Entry, LedgerCheckpoint, LedgerEvent, Release, Settlement } from "./events.ts";
import { isSettledBy, withoutReleased } from "./reservations.ts";
import { budgetAsked, withThresholds } from "./thresholds.ts";

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

const enterWindow = (ledger: Ledger, event: string, place: Place): void => {
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

export const checkpointOf = (ledger: Ledger, revision: number): LedgerCheckpoint => {
  const [oldest] = ledger.recent.values();
  return {
    revision,
    window_from: Math.min(oldest?.revision ?? revision + 1, revision + 1),
    settled: ledger.settled,
    overrun: ledger.overrun,
    reservation: ledger.reservation,
    ...(ledger.closed ? { closed: true } : {}),
    ...(ledger.budget === null ? {} : { budget: ledger.budget }),
    ...(ledger.reached === 0 ? {} : { reached: ledger.reached }),
    ...(ledger.charged.size === 0 ? {} : { charged: [...ledger.charged] }),
    settled_count: ledger.settledCount,
    last_at: ledger.lastAt,
    open: [...ledger.open].map(([event, p]) =>
      p.places === 1
        ? [event, p.cost, p.at, p.reservations, p.revision]
        : [event, p.cost, p.at, p.reservations, p.revision, p.places],
    ),
  };
};

/** The ledger of a checkpoint, still without the window's settled places: `refill` adds those. */
export const fromCheckpoint = (checkpoint: LedgerCheckpoint, windowMs = WINDOW_MS): Ledger => {
  const ledger = emptyLedger(windowMs);
  ledger.settled = checkpoint.settled;
  ledger.overrun = checkpoint.overrun;
  ledger.reservation = checkpoint.reservation;
  ledger.closed = checkpoint.closed === true;
  ledger.budget = checkpoint.budget ?? null;
  ledger.reached = checkpoint.reached ?? 0;
  ledger.settledCount = checkpoint.settled_count;
  ledger.lastAt = checkpoint.last_at;
  for (const event of checkpoint.charged ?? []) ledger.charged.add(event);
  for (const [event, cost, at, reservations, revision, places = 1] of checkpoint.open) {
    ledger.open.set(event, { at, cost, places, reservations, settled: false, revision });
    ledger.reserved += cost;
    ledger.openCount += places;
  }
  return ledger;
};

/** Applies to the window alone a record between the checkpoint's `window_from` and its `revision`, in place. */
export const refill = (ledger: Ledger, record: LedgerEvent, revision: number): void => {
  if (record.type === "LedgerOpened") {
    carry(ledger, record.data, revision);
    prune(ledger);
  } else if (record.type === "Reserved") {
    for (const { event, at, cost, places = 1, reservation } of record.data.entries) {
      if (at <= ledger.lastAt - ledger.windowMs) continue;
      const known = ledger.recent.get(event);
      const open = ledger.open.get(event);
      if (open !== undefined) {
        // The checkpoint has its reservations already. An earlier place of the same event was released.
        if (open.revision === revision && known === undefined) enterWindow(ledger, event, open);
      } else if (known !== undefined) known.reservations = [...known.reservations, reservation];
      else enterWindow(ledger, event, { at, cost, places, reservations: [reservation], settled: false, revision });
    }
    prune(ledger);
  } else if (record.type === "Settled") {
    for (const settlement of record.data.entries) {
      const { event, cost } = settlement;
      const place = ledger.recent.get(event);
      if (place === undefined || place.settled || ledger.open.has(event)) continue;
      if (!isSettledBy(place.reservations, settlement)) continue;
      place.settled = true;
      place.cost = cost;
    }
  } else if (record.type === "Released") {
    for (const release of record.data.entries) {
      const { event } = release;
      const place = ledger.recent.get(event);
      if (place === undefined || place.settled || ledger.open.has(event)) continue;
      place.reservations = withoutReleased(place.reservations, release);
      if (place.reservations.length === 0) leaveWindow(ledger, event);
    }
  }
};

/** Left out: no such limit. `budget` in micro-euros, `rate` within the ledger's window, `count` places in all. */
export type Limits = { readonly budget?: number; readonly rate?: number; readonly count?: number };

export type LedgerCommand =
  | {
      readonly type: "Reserve";
      readonly event: string;
      readonly cost: number;
      /** Left out: one. */
      readonly places?: number;
      readonly limits: Limits;
    }
  /**
   * `cost` left out: as much as is reserved. `upTo`: the place is spent if this reservation or an earlier one holds it; left
   * out: whichever holds it.
   */
  | { readonly type: "Settle"; readonly event: string; readonly cost?: number; readonly upTo?: number }
  | { readonly type: "Charge"; readonly event: string; readonly cost: number }
  /** Gives back one reservation, or with `upTo` that one and all before it. */
  | { readonly type: "Release"; readonly event: string; readonly reservation: number }
  | { readonly type: "Release"; readonly event: string; readonly upTo: number };

/** One limit as it stood when it was looked at; `used` is without the request itself. */
type Reading = { readonly used: number; readonly limit: number; readonly over: boolean };

export type Answer = {
  readonly granted: boolean;
  /** The number of the reservation that was made; missing where none was: refused, or the event's place is settled. */
  readonly reservation?: number;
  readonly budget?: Reading;
  readonly rate?: Reading & { readonly retryAfterMs: number };
  readonly count?: Reading;
  /** Refused because another request of the same name, still to be decided, holds another number of places. */
  readonly isContested?: true;
};

const GRANTED: Answer = { granted: true };

const CONTESTED: Answer = { granted: false, isContested: true };

/** What a batch adds to a ledger before it is appended. */
type Pending = { cost: number; places: number; readonly events: Map<string, Entry> };

/** Places that are in the window no more. */
const expired = (ledger: Ledger, at: number): number => {
  let count = 0;
  for (const place of ledger.recent.values()) {
    if (place.at > at - ledger.windowMs) break;
    count += place.places;
  }
  return count;
};

/** When so many of the oldest places have left the window that `needed` are free: at the latest once all have. */
const roomAt = (ledger: Ledger, needed: number, at: number): number => {
  let left = needed;
  for (const place of ledger.recent.values()) {
    if (place.at <= at - ledger.windowMs) continue;
    left -= place.places;
    if (left <= 0) return place.at + ledger.windowMs;
  }
  return at + ledger.windowMs;
};

type Wanted = { readonly cost: number; readonly places: number };

const judge = (
  ledger: Ledger,
  pending: Pending,
  { cost, places }: Wanted,
  limits: Limits,
  at: number,
  gone: number,
): Answer => {
  const answer: { -readonly [K in keyof Answer]: Answer[K] } = { granted: true };
  if (limits.budget !== undefined) {
    const used = ledger.reserved + ledger.settled + pending.cost;
    answer.budget = { used, limit: limits.budget, over: used + cost > limits.budget };
  }
  if (limits.rate !== undefined) {
    const used = ledger.recentCount - gone + pending.places;
    const over = used + places > limits.rate;
    const retryAfterMs = over ? Math.max(roomAt(ledger, used + places - limits.rate, at) - at, 0) : 0;
    answer.rate = { used, limit: limits.rate, over, retryAfterMs };
  }
  if (limits.count !== undefined) {
    const used = ledger.openCount + ledger.settledCount + pending.places;
    answer.count = { used, limit: limits.count, over: used + places > limits.count };
  }
  answer.granted = !(answer.budget?.over || answer.rate?.over || answer.count?.over);
  return answer;
};

/** How the limits stand besides a place that is there: who has one passes them all. */
const besides = (
  ledger: Ledger,
  pending: Pending,
  { cost, at: takenAt, places = 1 }: Pick<Entry, "cost" | "at" | "places">,
  limits: Limits,
  at: number,
  gone: number,
): Answer => {
  const { budget, rate, count } = judge(ledger, pending, { cost: 0, places: 0 }, limits, at, gone);
  const without = (reading: Reading, own: number): Reading => ({ ...reading, used: reading.used - own, over: false });
  const inWindow = takenAt > at - ledger.windowMs ? places : 0;
  return {
    granted: true,
    ...(budget === undefined ? {} : { budget: without(budget, cost) }),
    ...(rate === undefined ? {} : { rate: { ...without(rate, inWindow), retryAfterMs: 0 } }),
    ...(count === undefined ? {} : { count: without(count, places) }),
  };
};

const entryOf = (event: string, cost: number, at: number, places: number, reservation: number): Entry =>
  places === 1 ? { event, cost, at, reservation } : { event, cost, at, places, reservation };

/** Whether the place to settle or to give back is open, and a reservation that the command names holds it. */
export const isHeld = (
  { open }: Pick<Ledger, "open">,
  command: Extract<LedgerCommand, { type: "Settle" | "Release" }>,
): boolean => {
  const place = open.get(command.event);
  if (place === undefined) return false;
  if ("reservation" in command) return place.reservations.includes(command.reservation);
  return command.upTo === undefined || isSettledBy(place.reservations, { up_to: command.upTo });
};

const releaseOf = (command: Extract<LedgerCommand, { type: "Release" }>): Release => {
  const { event } = command;
  return "upTo" in command ? { event, up_to: command.upTo } : { event, reservation: command.reservation };
};

const settlementOf = (
  place: Place,
  { event, cost = place.cost, upTo = place.reservations.at(-1) }: Extract<LedgerCommand, { type: "Settle" }>,
): Settlement => ({ event, cost, up_to: upTo ?? 0 });

export type LedgerDecision = {
  readonly events: readonly LedgerEvent[];
  /** One a command, in their order; only reservations are ever refused. */
  readonly answers: readonly Answer[];
};

/**
 * Decides a whole batch against one state, in one append: the reservations in order of arrival, each against the ledger
 * and all that the batch reserved before it; what the batch gives back is free for the next one. All limits of a
 * reservation hold or it takes no place at all. Reserving for an event that has a place is granted and takes no second;
 * for more places than it has it is refused, as those would count in a window that is past.
 */
export const decideLedger = (ledger: Ledger, commands: readonly LedgerCommand[], now: number): LedgerDecision => {
  // A clock that is set back must not let entries of "later" leave the window: time stands still instead.
  const at = Math.max(now, ledger.lastAt);
  const settled: Settlement[] = [];
  const released: Release[] = [];
  const charged = new Map<string, number>();
  const reserved: Entry[] = [];
  const pending: Pending = { cost: 0, places: 0, events: new Map() };
  const gone = expired(ledger, at);
  const nextReservation = (): number => ledger.reservation + reserved.length + 1;

  const answers = commands.map((command): Answer => {
    const { event } = command;
    if (command.type === "Settle") {
      const place = ledger.open.get(event);
      if (place !== undefined && isHeld(ledger, command)) settled.push(settlementOf(place, command));
      return GRANTED;
    }
    if (command.type === "Charge") {
      if (!ledger.charged.has(event)) charged.set(event, command.cost);
      return GRANTED;
    }
    if (command.type === "Release") {
      if (isHeld(ledger, command)) released.push(releaseOf(command));
      return GRANTED;
    }
    const { places = 1 } = command;
    const held = pending.events.get(event) ?? ledger.open.get(event);
    if (held !== undefined) {
      if (places > (held.places ?? 1)) return CONTESTED;
      // Joined by a request that costs more, as one with another payload under the same name, it is raised or stays.
      const more = Math.max(0, command.cost - held.cost);
      const answer = besides(ledger, pending, held, command.limits, at, gone);
      const { budget } = answer;
      if (more > 0 && budget !== undefined && budget.used + command.cost > budget.limit) {
        return { ...answer, granted: false, budget: { ...budget, over: true } };
      }
      // At the time of the place it joins: it takes none of its own in the window.
      const joined = entryOf(event, held.cost + more, held.at, held.places ?? 1, nextReservation());
      pending.events.set(event, joined);
      pending.cost += more;
      reserved.push(joined);
      return { ...answer, reservation: joined.reservation };
    }
    const known = ledger.recent.get(event);
    if (known?.settled === true) return besides(ledger, pending, known, command.limits, at, gone);
    const answer = judge(ledger, pending, { cost: command.cost, places }, command.limits, at, gone);
    if (answer.granted) {
      const entry = entryOf(event, command.cost, at, places, nextReservation());
      pending.events.set(event, entry);
      pending.cost += command.cost;
      pending.places += places;
      reserved.push(entry);
      return { ...answer, reservation: entry.reservation };
    }
    return answer;
  });

  const events: LedgerEvent[] = [];
  if (reserved.length > 0) events.push({ type: "Reserved", data: { entries: reserved } });
  // In this order, as a request that gives its part of a place back and one that spends the place leave it spent.
  if (settled.length > 0) events.push({ type: "Settled", data: { entries: settled } });
  if (released.length > 0) events.push({ type: "Released", data: { entries: released } });
  if (charged.size > 0) {
    events.push({ type: "Charged", data: { entries: [...charged].map(([event, cost]) => ({ event, cost })) } });
  }
  return { events: withThresholds(ledger, budgetAsked(commands), events), answers };
};
