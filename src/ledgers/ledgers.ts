import { dayBehind, dayIn } from "../../domain/calendar.ts";
import type { LedgerCommand, Limits } from "../../domain/ledger/commands.ts";
import type { Answer } from "../../domain/ledger/decider.ts";
import type { Trace } from "../streams/envelope.ts";
import { type LedgerDeps, type LedgerFigures, type LedgerStream, ledgerStream } from "./ledger-stream.ts";

/** What a request was answered by a ledger. With it, the request settles or gives back exactly what it has reserved. */
export type Reservation = {
  readonly stream: string;
  readonly account: string;
  readonly event: string;
  readonly answer: Answer;
};

type DayPolicy = { readonly account: string; readonly id: string; readonly timeZone: string };

/** Where places are taken and given back. */
export type Reserving = {
  /** The ledger of a policy, one stream a day of the account's time zone. Cost in micro-euros; `places`: one, left out. */
  reserveDay(
    policy: DayPolicy,
    event: string,
    cost: number,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /** A ledger of one stream: a month's quota, an account's sources, a loop's limit. */
  reserve(
    stream: string,
    account: string,
    event: string,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /** Gives back this reservation, and the place with it unless another reservation of the same event holds it too. */
  release(reservation: Reservation, trace: Trace): Promise<void>;
};

export type Ledgers = Reserving & {
  /** Answers as the reservations would be answered at this moment, and takes no place. */
  readonly asking: Reserving;
  /**
   * Spends in the ledger of the day of `at` (ms since 1970), whatever its limits and also when it is closed, what is spent
   * already; once for one name, by however many nodes and however late.
   */
  charge(policy: DayPolicy, name: string, cost: number, at: number, trace: Trace): Promise<void>;
  /**
   * Spends the place that the reservation holds; cost in micro-euros. Nobody waits for it: if a crash leaves it undone, it
   * is done when the ledger is read again. Nothing happens for a reservation that was refused or that made none.
   */
  settle(reservation: Reservation, cost: number, trace: Trace): void;
  /** Spends the place of an event that has ended, whichever reservations hold it. Resolves when it is written down. */
  settleNow(stream: string, account: string, event: string, cost: number, trace: Trace): Promise<void>;
  /**
   * Gives back, or settles, the place of an event by what has become of it. Reservations that are made after this asks what
   * became of it stay, for instance that of a replay. Resolves when it is written down.
   */
  resolve(stream: string, account: string, event: string): Promise<void>;
  /** Who holds open places in a ledger, in the order in which they took them. */
  holders(stream: string, account: string): Promise<readonly string[]>;
  /** A ledger as the log has it at this moment; one that nothing was reserved in is all zeros. */
  figures(stream: string, account: string): Promise<LedgerFigures>;
  /**
   * Gives back what requests that died have reserved, in the ledgers in memory. For any other ledger the same is done when
   * it is next read.
   */
  sweep(): Promise<void>;
  /** Waits for the work that no request waits for. */
  idle(): Promise<void>;
};

/** The ledger of a policy on a day (YYYY-MM-DD) of the account's time zone. */
export const dayLedger = (policyId: string, day: string): string => `ledger-${policyId}-${day}`;

export type LedgerMemory = {
  /** Ledgers kept in memory; one that was forgotten is read again from its stream when it is next needed. */
  readonly ledgersMax: number;
  /** Places and names that all of them may hold together, about 250 bytes each. */
  readonly entriesMax: number;
};

const MEMORY: LedgerMemory = { ledgersMax: 5_000, entriesMax: 250_000 };
/** Ledgers that one look-up may forget, or pass over because they are busy: more are left to the next look-ups. */
const FORGOTTEN_AT_ONCE_MAX = 16;
/** Policies of which it is remembered in memory that their day has begun: two short texts each. */
const DAYS_MAX = 50_000;

/** `size`: how many places and names the ledger holds. */
type InMemory = { readonly ledger: LedgerStream; size: number };

type Reserve = Extract<LedgerCommand, { type: "Reserve" }>;

type Day = { day: string; rolling: Promise<void> | null };

export const ledgers = (deps: LedgerDeps, { ledgersMax, entriesMax }: LedgerMemory = MEMORY): Ledgers => {
  const startedAt = deps.clock.now();
  /** The least recently used comes first. */
  const streams = new Map<string, InMemory>();
  let entries = 0;
  const days = new Map<string, Day>();
  const background = new Set<Promise<unknown>>();

  const later = (work: Promise<unknown>): void => {
    const done = work.catch(deps.onError).finally(() => background.delete(done));
    background.add(done);
  };

  /** The places of a ledger are in the log, so any can be forgotten as long as nothing is under way in it. */
  const forgetOthers = (inUse: InMemory): void => {
    let looked = 0;
    for (const [name, it] of streams) {
      const isFull = streams.size > ledgersMax || entries > entriesMax;
      if (!isFull || it === inUse || looked === FORGOTTEN_AT_ONCE_MAX) return;
      looked += 1;
      streams.delete(name);
      // It goes to the end, so that the next look-up does not meet it again.
      if (it.ledger.busy()) streams.set(name, it);
      else entries -= it.size;
    }
  };

  const begun = (stream: string, account: string): InMemory => {
    const onSize = (size: number): void => {
      // A ledger that was forgotten while its last turn ended is counted no more.
      if (streams.get(stream) !== it) return;
      entries += size - it.size;
      it.size = size;
    };
    const it = { ledger: ledgerStream(stream, account, { ...deps, startedAt, later, onSize }), size: 0 };
    return it;
  };

  const streamOf = (stream: string, account: string): LedgerStream => {
    const it = streams.get(stream) ?? begun(stream, account);
    streams.delete(stream);
    streams.set(stream, it);
    forgetOthers(it);
    return it.ledger;
  };

  /** Closes the day before and opens `day` with what of it still counts in the sliding minute: no node can take a place
   * in the old day any more, so the rate holds across midnight. Each step may find that another node has done it. */
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

  /** `decide`: what a ledger makes of a reservation. */
  const reserving = (decide: (ledger: LedgerStream, command: Reserve, trace: Trace) => Promise<Answer | "closed">) => ({
    async reserveDay(policy: DayPolicy, event: string, cost: number, limits: Limits, trace: Trace, places = 1) {
      const { account, id } = policy;
      let day = dayIn(policy.timeZone, deps.clock.now());
      for (;;) {
        // A clock that was set back stays in the day that has begun.
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
      // Begun with what it carries of the day before, unless that is done or past.
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
        const { reservation: _none, ...said } = answer;
        return said;
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
