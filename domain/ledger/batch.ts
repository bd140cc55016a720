import { defined } from "../defined.ts";
import type { LedgerCommand, Limits } from "./commands.ts";
import type { Entry, LedgerEvent, Release, Settlement } from "./events.ts";
import { isSettledBy } from "./reservations.ts";
import type { Ledger, Place } from "./state.ts";
import { withThresholds } from "./thresholds.ts";

type Reading = { readonly used: number; readonly limit: number; readonly over: boolean };

export type Answer = {
  readonly granted: boolean;
  /** Absent if nothing was reserved: the request was refused, or the event's place is settled already. */
  readonly reservation?: number;
  readonly budget?: Reading;
  readonly rate?: Reading & { readonly retryAfterMs: number };
  readonly count?: Reading;
  /** Another undecided request for the same event holds fewer places than this request needs. */
  readonly isContested?: true;
};

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

const reading = (used: number, own: number, limit: number): Reading => ({ used, limit, over: used + own > limit });

const GRANTED: Answer = { granted: true };

const CONTESTED: Answer = { granted: false, isContested: true };

type Wanted = { readonly cost: number; readonly places: number; readonly limits: Limits };
type CommandOf<T extends LedgerCommand["type"]> = Extract<LedgerCommand, { type: T }>;

export const isHeld = ({ open }: Pick<Ledger, "open">, command: CommandOf<"Settle" | "Release">): boolean => {
  const place = open.get(command.event);
  if (place === undefined) return false;
  if ("reservation" in command) return place.reservations.includes(command.reservation);
  return command.upTo === undefined || isSettledBy(place.reservations, { up_to: command.upTo });
};

const releaseOf = (command: CommandOf<"Release">): Release => {
  const { event } = command;
  return "upTo" in command ? { event, up_to: command.upTo } : { event, reservation: command.reservation };
};

const settlementOf = (
  place: Place,
  { event, cost = place.cost, upTo = place.reservations.at(-1) }: CommandOf<"Settle">,
): Settlement => ({ event, cost, up_to: upTo ?? 0 });

type Reserved = {
  readonly entry: Entry;
  readonly before: Entry | undefined;
  readonly cost: number;
  readonly places: number;
};

/**
 * Decides commands one after another: each reservation is decided on those before it. Places that are given back in the
 * batch still count until its end.
 */
export class LedgerBatch {
  readonly #ledger: Ledger;
  readonly #at: number;
  readonly #expired: number;
  #cost = 0;
  #places = 0;
  readonly #held = new Map<string, Entry>();
  readonly #reserved: Entry[] = [];
  readonly #settled: Settlement[] = [];
  readonly #released: Release[] = [];
  readonly #charged = new Map<string, number>();
  #last: Reserved | null = null;
  /** The limit of the last reservation in micro-euros: null without one, undefined while nothing was asked. */
  #budgetAsked: number | null | undefined;

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    // If the clock was set back, time stands still, so that no place leaves the window too early.
    this.#at = Math.max(now, ledger.lastAt);
    this.#expired = this.#countExpired();
  }

  decide(command: LedgerCommand): Answer {
    switch (command.type) {
      case "Reserve":
        this.#budgetAsked = command.limits.budget ?? null;
        return this.#reserve(command);
      case "Settle": {
        const place = this.#ledger.open.get(command.event);
        if (place !== undefined && isHeld(this.#ledger, command)) this.#settled.push(settlementOf(place, command));
        return GRANTED;
      }
      case "Release":
        if (isHeld(this.#ledger, command)) this.#released.push(releaseOf(command));
        return GRANTED;
      case "Charge":
        if (!this.#ledger.charged.has(command.event)) this.#charged.set(command.event, command.cost);
        return GRANTED;
    }
  }

  events(): readonly LedgerEvent[] {
    const events: LedgerEvent[] = [];
    if (this.#reserved.length > 0) events.push({ type: "Reserved", data: { entries: this.#reserved } });
    if (this.#settled.length > 0) events.push({ type: "Settled", data: { entries: this.#settled } });
    if (this.#released.length > 0) events.push({ type: "Released", data: { entries: this.#released } });
    if (this.#charged.size > 0) {
      events.push({ type: "Charged", data: { entries: [...this.#charged].map(([event, cost]) => ({ event, cost })) } });
    }
    return withThresholds(this.#ledger, this.#budgetAsked, events);
  }

  /** Undoes the reservation that was made last. An earlier one cannot be undone, because later ones count it. */
  retract(reservation: number): void {
    const last = this.#last;
    if (last?.entry.reservation !== reservation) throw new Error(`reservation ${reservation} was not made last`);
    const { entry, before, cost, places } = last;
    this.#reserved.pop();
    this.#cost -= cost;
    this.#places -= places;
    if (before === undefined) this.#held.delete(entry.event);
    else this.#held.set(entry.event, before);
    this.#last = null;
  }

  #reserve(command: CommandOf<"Reserve">): Answer {
    const { event, cost, places = 1, limits } = command;
    const held = this.#held.get(event) ?? this.#ledger.open.get(event);
    if (held !== undefined) return places > (held.places ?? 1) ? CONTESTED : this.#join(held, command);
    const known = this.#ledger.recent.get(event);
    if (known?.settled === true) return this.#readWithout(known, limits);
    const answer = this.#read({ cost, places, limits });
    if (answer.granted) answer.reservation = this.#enter({ event, cost, at: this.#at, places }, { cost, places });
    return answer;
  }

  /** A request that costs more than the place it joins, as one with another payload, raises the place's cost. */
  #join(held: Pick<Entry, "cost" | "at" | "places">, { event, cost, limits }: CommandOf<"Reserve">): Answer {
    const more = Math.max(0, cost - held.cost);
    const answer = this.#readWithout(held, limits);
    const { budget } = answer;
    if (more > 0 && budget !== undefined && budget.used + cost > budget.limit) {
      return { ...answer, granted: false, budget: { ...budget, over: true } };
    }
    // The entry has the time of the joined place, so the window counts the place once.
    const entry = { event, cost: held.cost + more, at: held.at, places: held.places ?? 1 };
    return { ...answer, reservation: this.#enter(entry, { cost: more, places: 0 }) };
  }

  #enter({ event, cost, at, places }: Omit<Required<Entry>, "reservation">, added: Pick<Reserved, "cost" | "places">) {
    const reservation = this.#ledger.reservation + this.#reserved.length + 1;
    const entry: Entry = places === 1 ? { event, cost, at, reservation } : { event, cost, at, places, reservation };
    this.#last = { entry, before: this.#held.get(event), ...added };
    this.#cost += added.cost;
    this.#places += added.places;
    this.#held.set(event, entry);
    this.#reserved.push(entry);
    return reservation;
  }

  #read({ cost, places, limits }: Wanted): Draft<Answer> {
    const ledger = this.#ledger;
    const { budget, rate, count } = limits;
    const answer: Draft<Answer> = { granted: true };
    if (budget !== undefined) answer.budget = reading(ledger.reserved + ledger.settled + this.#cost, cost, budget);
    if (rate !== undefined) {
      const inWindow = reading(ledger.recentCount - this.#expired + this.#places, places, rate);
      answer.rate = { retryAfterMs: this.#retryAfterMs(inWindow, places), ...inWindow };
    }
    if (count !== undefined) {
      answer.count = reading(ledger.openCount + ledger.settledCount + this.#places, places, count);
    }
    answer.granted = answer.budget?.over !== true && answer.rate?.over !== true && answer.count?.over !== true;
    return answer;
  }

  /** A request for an event that already has a place passes all limits. */
  #readWithout({ cost, at, places = 1 }: Pick<Entry, "cost" | "at" | "places">, limits: Limits): Answer {
    const { budget, rate, count } = this.#read({ cost: 0, places: 0, limits });
    const without = (reading: Reading, own: number): Reading => ({ ...reading, used: reading.used - own, over: false });
    const inWindow = at > this.#at - this.#ledger.windowMs ? places : 0;
    return defined({
      granted: true,
      budget: budget && without(budget, cost),
      rate: rate && { ...without(rate, inWindow), retryAfterMs: 0 },
      count: count && without(count, places),
    });
  }

  #countExpired(): number {
    const { recent, windowMs } = this.#ledger;
    let count = 0;
    for (const { at, places } of recent.values()) {
      if (at > this.#at - windowMs) break;
      count += places;
    }
    return count;
  }

  /** The wait ends when enough of the oldest places have left the window. */
  #retryAfterMs({ used, limit, over }: Reading, places: number): number {
    if (!over) return 0;
    const { recent, windowMs } = this.#ledger;
    let left = used + places - limit;
    for (const place of recent.values()) {
      if (place.at <= this.#at - windowMs) continue;
      left -= place.places;
      if (left <= 0) return Math.max(place.at + windowMs - this.#at, 0);
    }
    return windowMs;
  }
}
