import { dayBehind, dayIn } from "../../domain/calendar.ts";
import type { LedgerCommand, Limits } from "../../domain/ledger/commands.ts";
import type { Answer } from "../../domain/ledger/decider.ts";
import type { Trace } from "../streams/envelope.ts";
import { type LedgerDeps, type LedgerFigures, type LedgerStream, ledgerStream } from "./ledger-stream.ts";

/** The answer to one request, by which that request settles or releases exactly what it has reserved. */
export type Reservation = {
  readonly stream: string;
  readonly account: string;
  readonly event: string;
  readonly answer: Answer;
};

type DayPolicy = { readonly account: string; readonly id: string; readonly timeZone: string };

export type Reserving = {
  /** Reserves in the policy's ledger of today, in the account's time zone. Cost in micro-euros. */
  reserveDay(
    policy: DayPolicy,
    event: string,
    cost: number,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /** Reserves in a ledger that is one stream: a month's quota, an account's slots, a loop's limit. */
  reserve(
    stream: string,
    account: string,
    event: string,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /** Gives back this reservation, and the place unless another reservation of the same event holds it too. */
  release(reservation: Reservation, trace: Trace): Promise<void>;
};

export type Ledgers = Reserving & {
  /** Answers like a reservation made now, and reserves nothing. */
  readonly asking: Reserving;
  /** Charges an amount already spent to the ledger of the day of `at` (ms since 1970), whatever its limits and even if
   * it is closed. A name is charged once, by however many nodes and however late. */
  charge(policy: DayPolicy, name: string, cost: number, at: number, trace: Trace): Promise<void>;
  /** Settles the reservation at this cost (micro-euros) in the background: what a crash leaves undone is done when the
   * ledger is next read. A refused reservation is ignored. */
  settle(reservation: Reservation, cost: number, trace: Trace): void;
  /** Settles the place of an ended event, for all its reservations. Resolves once that is recorded. */
  settleNow(stream: string, account: string, event: string, cost: number, trace: Trace): Promise<void>;
  /** Releases or settles the place of an event by what became of it. Later reservations, such as those of a replay,
   * stay. Resolves once that is recorded. */
  resolve(stream: string, account: string, event: string): Promise<void>;
  /** Holders of open places, in the order in which they reserved them. */
  holders(stream: string, account: string): Promise<readonly string[]>;
  /** Current figures from the log; all zeros for an unused ledger. */
  figures(stream: string, account: string): Promise<LedgerFigures>;
  /** Releases the places of dead requests in the ledgers in memory. Other ledgers do so when they are next read. */
  sweep(): Promise<void>;
  /** Waits for the background work. */
  idle(): Promise<void>;
};

/** `day`: YYYY-MM-DD in the account's time zone. */
export const dayLedger = (policyId: string, day: string): string => `ledger-${policyId}-${day}`;

export type LedgerMemory = {
  /** Ledgers in memory; any other is read from its stream when it is needed. */
  readonly ledgersMax: number;
  /** Places and names in all of them together, about 250 bytes each. */
  readonly entriesMax: number;
};

const MEMORY: LedgerMemory = { ledgersMax: 5_000, entriesMax: 250_000 };
/** Ledgers that one look-up may drop, or skip because they are busy; the next look-ups continue. */
const DROPPED_AT_ONCE_MAX = 16;
/** Policies whose current day is in memory, as two short strings each. */
const DAYS_MAX = 50_000;

/** `size`: places and names in the ledger. */
type InMemory = { readonly ledger: LedgerStream; size: number };

type Reserve = Extract<LedgerCommand, { type: "Reserve" }>;

type Day = { day: string; rolling: Promise<void> | null };

export const ledgers = (deps: LedgerDeps, { ledgersMax, entriesMax }: LedgerMemory = MEMORY): Ledgers => {
  const startedAt = deps.clock.now();
  /** Least recently used first. */
  const streams = new Map<string, InMemory>();
  let entries = 0;
  const days = new Map<string, Day>();
  const background = new Set<Promise<unknown>>();

  const later = (work: Promise<unknown>): void => {
    const done = work.catch(deps.onError).finally(() => background.delete(done));
    background.add(done);
  };

  /** All places are in the log, so any ledger can be dropped from memory while nothing is under way in it. */
  const dropOthers = (inUse: InMemory): void => {
    let visited = 0;
    for (const [name, it] of streams) {
      const isFull = streams.size > ledgersMax || entries > entriesMax;
      if (!isFull || it === inUse || visited === DROPPED_AT_ONCE_MAX) return;
      visited += 1;
      streams.delete(name);
      // A busy ledger goes to the end, so that the next look-up does not meet it again.
      if (it.ledger.busy()) streams.set(name, it);
      else entries -= it.size;
    }
  };

  const loaded = (stream: string, account: string): InMemory => {
    const onSize = (size: number): void => {
      // A ledger that was dropped during its last turn is not counted any more.
      if (streams.get(stream) !== it) return;
      entries += size - it.size;
      it.size = size;
    };
    const it = { ledger: ledgerStream(stream, account, { ...deps, startedAt, later, onSize }), size: 0 };
    return it;
  };

  const streamOf = (stream: string, account: string): LedgerStream => {
    const it = streams.get(stream) ?? loaded(stream, account);
    streams.delete(stream);
    streams.set(stream, it);
    dropOthers(it);
    return it.ledger;
  };

  /**
   * Closes the previous day and opens `day` with the entries that still count in the sliding minute. No node can
   * reserve in the old day afterwards, so the rate holds over midnight. Another node may have done either step already.
   */
  const roll = async (policyId: string, account: string, day: string, trace: Trace): Promise<void> => {
    const before = streamOf(dayLedger(policyId, dayBehind(day, -1)), account);
    const carried = await before.close(trace);
    await streamOf(dayLedger(policyId, day), account).open(carried, trace);
  };

  const enter = async (policyId: string, account: string, day: string, trace: Trace): Promise<Day> => {
    const known: Day = days.get(policyId) ?? { day: "", rolling: null };
    days.delete(policyId);
    days.set(policyId, known);
    if (days.size > DAYS_MAX) {
      const [oldest] = days.keys();
      if (oldest !== undefined) days.delete(oldest);
    }
    while (known.day < day) {
      known.rolling ??= roll(policyId, account, day, trace)
        .then(() => {
          known.day = day;
        })
        .finally(() => {
          known.rolling = null;
        });
      await known.rolling;
    }
    return known;
  };

  const reserving = (decide: (ledger: LedgerStream, command: Reserve, trace: Trace) => Promise<Answer | "closed">) => ({
    async reserveDay(policy: DayPolicy, event: string, cost: number, limits: Limits, trace: Trace, places = 1) {
      const { account, id } = policy;
      let day = dayIn(policy.timeZone, deps.clock.now());
      for (;;) {
        // After its clock was set back, a node stays in the day that has begun.
        day = (await enter(id, account, day, trace)).day;
        const stream = dayLedger(id, day);
        const answer = await decide(streamOf(stream, account), { type: "Reserve", event, cost, places, limits }, trace);
        if (answer !== "closed") return { stream, account, event, answer };
        // A node whose clock is ahead has begun the next day.
        day = dayBehind(day, 1);
      }
    },

    async reserve(
      stream: string,
      account: string,
      event: string,
      limits: Limits,
      trace: Trace,
      places = 1,
    ): Promise<Reservation> {
      const command = { type: "Reserve", event, cost: 0, places, limits } as const;
      const answer = await decide(streamOf(stream, account), command, trace);
      return { stream, account, event, answer: answer === "closed" ? { granted: false } : answer };
    },
  });

  return {
    ...reserving((ledger, command, trace) => ledger.submit(command, trace)),
    async charge({ account, id, timeZone }, name, cost, at, trace) {
      const day = dayIn(timeZone, at);
      // Opens the day with what it carries over from the day before, unless it is open or past.
      await enter(id, account, day, trace);
      await streamOf(dayLedger(id, day), account).submit({ type: "Charge", event: name, cost }, trace);
    },

    async release({ stream, account, event, answer: { reservation } }, trace) {
      if (reservation === undefined) return;
      await streamOf(stream, account).submit({ type: "Release", event, reservation }, trace);
    },

    asking: {
      ...reserving(async (ledger, command) => {
        const answer = await ledger.ask(command);
        if (answer === "closed") return answer;
        const { reservation: _none, ...figures } = answer;
        return figures;
      }),
      release: async () => undefined,
    },

    settle({ stream, account, event, answer: { reservation: upTo } }, cost, trace) {
      if (upTo === undefined) return;
      later(streamOf(stream, account).submit({ type: "Settle", event, cost, upTo }, trace));
    },

    async settleNow(stream, account, event, cost, trace) {
      await streamOf(stream, account).submit({ type: "Settle", event, cost }, trace);
    },

    resolve: (stream, account, event) => streamOf(stream, account).resolve(event),

    holders: (stream, account) => streamOf(stream, account).holders(),

    figures: (stream, account) => streamOf(stream, account).figures(),

    async sweep() {
      for (const { ledger } of [...streams.values()]) if (ledger.hasPlaces()) await ledger.sweep();
    },

    async idle() {
      while (background.size > 0) await Promise.all(background);
    },
  };
};
