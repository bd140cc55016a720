import { dayBehind, dayIn } from "../../domain/calendar.ts";
import type { Answer, Limits } from "../../domain/ledger/ledger.ts";
import type { Trace } from "../envelope.ts";
import {
  type LedgerDeps,
  type LedgerFigures,
  type LedgerStream,
  ledgerStream,
  ORPHAN_AGE_MS,
} from "./ledger-stream.ts";

/** Where a place was reserved: settling and releasing go to the same stream. */
export type Reservation = { readonly stream: string; readonly account: string; readonly answer: Answer };

export type DayPolicy = { readonly account: string; readonly id: string; readonly timeZone: string };

export type Ledgers = {
  /** The ledger of a policy, one stream a day of the account's time zone. Cost in micro-euros; `places`: one, left out. */
  reserveDay(
    policy: DayPolicy,
    event: string,
    cost: number,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /**
   * Spends in the ledger of the day of `at` (ms since 1970), whatever its limits and also when it is closed, what is spent
   * already; once for one name, by however many nodes and however late.
   */
  charge(policy: DayPolicy, name: string, cost: number, at: number, trace: Trace): Promise<void>;
  /** A ledger of one stream: a month's quota, an account's sources, a loop's limit. */
  reserve(
    stream: string,
    account: string,
    event: string,
    limits: Limits,
    trace: Trace,
    places?: number,
  ): Promise<Reservation>;
  /** Both settle and release do not wait: what a crash leaves undone is done when the ledger is read again. */
  settle(stream: string, account: string, event: string, cost: number, trace: Trace): void;
  release(stream: string, account: string, event: string, trace: Trace, all?: true): Promise<void>;
  /** As `settle`, and resolves when it is written down. */
  settleNow(stream: string, account: string, event: string, cost: number, trace: Trace): Promise<void>;
  /**
   * Gives back, or settles, the place of an event by what has become of it: a place that it holds anew, as a replay has taken
   * it again, stays. Resolves when it is written down.
   */
  resolve(stream: string, account: string, event: string): Promise<void>;
  /** A ledger as the log has it at this moment; one that nothing was reserved in is all zeros. */
  figures(stream: string, account: string): Promise<LedgerFigures>;
  /** Gives back what requests that died have reserved; for the ledgers in use. */
  sweep(): Promise<void>;
  /** Waits for what is queued. */
  idle(): Promise<void>;
};

/** The ledger of a policy on a day (YYYY-MM-DD) of the account's time zone. */
export const dayLedger = (policyId: string, day: string): string => `ledger-${policyId}-${day}`;

/** Ledgers kept in memory; an idle one is read again from its stream when it is next needed. */
const LEDGERS_MAX = 5_000;

type Day = { day: string; rolling: Promise<void> | null };

export const ledgers = (deps: LedgerDeps): Ledgers => {
  const streams = new Map<string, LedgerStream>();
  const days = new Map<string, Day>();
  const background = new Set<Promise<unknown>>();

  const streamOf = (stream: string, account: string): LedgerStream => {
    const known = streams.get(stream) ?? ledgerStream(stream, account, deps);
    streams.delete(stream);
    streams.set(stream, known);
    if (streams.size > LEDGERS_MAX) {
      for (const [name, candidate] of streams) {
        if (candidate.busy()) continue;
        streams.delete(name);
        break;
      }
    }
    return known;
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
    if (days.size > LEDGERS_MAX) {
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

  const later = (work: Promise<unknown>): void => {
    const done = work.catch(deps.onError).finally(() => background.delete(done));
    background.add(done);
  };

  return {
    async reserveDay(policy, event, cost, limits, trace, places = 1) {
      const { account, id } = policy;
      let day = dayIn(policy.timeZone, deps.clock.now());
      for (;;) {
        // A clock that was set back stays in the day that has begun.
        day = (await enter(id, account, day, trace)).day;
        const stream = dayLedger(id, day);
        const answer = await streamOf(stream, account).submit({ type: "Reserve", event, cost, places, limits }, trace);
        if (answer !== "closed") return { stream, account, answer };
        // A node whose clock is ahead has begun the next day.
        day = dayBehind(day, 1);
      }
    },

    async charge({ account, id, timeZone }, name, cost, at, trace) {
      const day = dayIn(timeZone, at);
      // Begun with what it carries of the day before, unless that is done or past.
      await enter(id, account, day, trace);
      await streamOf(dayLedger(id, day), account).submit({ type: "Charge", event: name, cost }, trace);
    },

    async reserve(stream, account, event, limits, trace, places = 1) {
      const command = { type: "Reserve", event, cost: 0, places, limits } as const;
      const answer = await streamOf(stream, account).submit(command, trace);
      return { stream, account, answer: answer === "closed" ? { granted: false } : answer };
    },

    settle(stream, account, event, cost, trace) {
      later(streamOf(stream, account).submit({ type: "Settle", event, cost }, trace));
    },

    async settleNow(stream, account, event, cost, trace) {
      await streamOf(stream, account).submit({ type: "Settle", event, cost }, trace);
    },

    resolve: (stream, account, event) => streamOf(stream, account).resolve(event),

    figures: (stream, account) => streamOf(stream, account).figures(),

    async release(stream, account, event, trace, all) {
      const command = { type: "Release", event, ...(all === true ? { all } : {}) } as const;
      await streamOf(stream, account).submit(command, trace);
    },

    async sweep() {
      for (const ledger of [...streams.values()]) if (ledger.busy()) await ledger.sweep(ORPHAN_AGE_MS);
    },

    async idle() {
      while (background.size > 0) await Promise.all(background);
    },
  };
};
