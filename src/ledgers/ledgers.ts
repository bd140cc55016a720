import { dayIn, daysLater } from "../../domain/calendar.ts";
import type { Answer } from "../../domain/ledger/batch.ts";
import type { LedgerCommand, Limits } from "../../domain/ledger/commands.ts";
import type { Trace } from "../streams/envelope.ts";
import type { LedgerDeps, LedgerFigures, LedgerStream } from "./ledger-stream.ts";
import type { LedgerTurn } from "./ledger-turn.ts";
import { type LedgerMemory, LedgersInMemory } from "./ledgers-in-memory.ts";
import { dayLedger, PolicyDays } from "./policy-days.ts";

export type Reservation = {
  readonly stream: string;
  readonly account: string;
  readonly event: string;
  readonly answer: Answer;
};

type DayPolicy = { readonly account: string; readonly id: string; readonly timeZone: string };

type ReservedPlaces = {
  readonly event: string;
  readonly limits: Limits;
  readonly trace: Trace;
  readonly places?: number;
};
export type StreamRequest = ReservedPlaces & { readonly stream: string; readonly account: string };
export type DayRequest = ReservedPlaces & { readonly policy: DayPolicy; readonly cost: number };

export type Reserving = {
  reserveDay(request: DayRequest): Promise<Reservation>;
  /** For a ledger that is one stream, as a month's quota, an account's slots or a loop's limit. */
  reserve(request: StreamRequest): Promise<Reservation>;
  /** Gives the reservation back. The place stays while another reservation of the same event holds it. */
  release(reservation: Reservation, trace: Trace): Promise<void>;
};

type Charge = {
  readonly policy: DayPolicy;
  readonly name: string;
  readonly cost: number;
  /** When the amount was determined, in ms since 1970; the amount is charged to that day. */
  readonly at: number;
  readonly trace: Trace;
};

type EndedEvent = {
  readonly stream: string;
  readonly account: string;
  readonly event: string;
  readonly cost: number;
  readonly trace: Trace;
};

/** For requests that are decided together: their places are appended in one group with their claims. */
type LedgerTurns = {
  /** The ledger of the policy's day; null if that day has still to begin, as `reserveDay` begins it. */
  dayLedger(policy: DayPolicy): string | null;
  /** Null if the ledger is in use, closed, or not read yet. */
  take(stream: string, account: string): LedgerTurn | null;
  /** Reads the ledger, and resolves when it was free. */
  whenFree(stream: string, account: string): Promise<void>;
};

export type Ledgers = Reserving & {
  /** Gives the answers that reservations made now would get, and reserves nothing. */
  readonly preview: Reserving;
  /** Charges a spent amount to the day of `at` regardless of limits, even if it is closed. A name is charged once. */
  charge(charge: Charge): Promise<void>;
  /** Settles the place within a second; `cost` is in micro-euros. After a crash the next read of the ledger does. */
  settle(reservation: Reservation, cost: number): void;
  /** Settles all reservations of an ended event, and resolves once that is recorded. */
  settleNow(event: EndedEvent): Promise<void>;
  /** Releases or settles an event's place by the event's outcome. Later reservations, as of a replay, stay. */
  resolve(stream: string, account: string, event: string): Promise<void>;
  holders(stream: string, account: string): Promise<readonly string[]>;
  figures(stream: string, account: string): Promise<LedgerFigures>;
  /** Releases the places of dead requests in the ledgers in memory; other ledgers do so when they are next read. */
  sweep(isStopping?: () => boolean): Promise<void>;
  idle(): Promise<void>;
  readonly turns: LedgerTurns;
};

const MEMORY: LedgerMemory = { ledgersMax: 5_000, entriesMax: 250_000 };

type Reserve = Extract<LedgerCommand, { type: "Reserve" }>;
type Decide = (ledger: LedgerStream, command: Reserve, trace: Trace) => Promise<Answer | "closed">;

export const ledgers = (deps: LedgerDeps, memory: LedgerMemory = MEMORY): Ledgers => {
  const inMemory = new LedgersInMemory(deps, memory);
  const days = new PolicyDays(inMemory);

  const reserving = (decide: Decide) => ({
    async reserveDay({ policy, event, cost, limits, trace, places = 1 }: DayRequest): Promise<Reservation> {
      const { account, id } = policy;
      const command: Reserve = { type: "Reserve", event, cost, places, limits };
      let day = dayIn(policy.timeZone, deps.clock.now());
      for (;;) {
        // After its clock was set back, a node stays in the day that has begun.
        day = await days.enter(policy, day, trace);
        const stream = dayLedger(id, day);
        const answer = await decide(inMemory.get(stream, account), command, trace);
        if (answer !== "closed") return { stream, account, event, answer };
        // The day is closed: a node whose clock is ahead has begun the next one.
        day = daysLater(day, 1);
      }
    },

    async reserve({ stream, account, event, limits, trace, places = 1 }: StreamRequest): Promise<Reservation> {
      const command: Reserve = { type: "Reserve", event, cost: 0, places, limits };
      const answer = await decide(inMemory.get(stream, account), command, trace);
      return { stream, account, event, answer: answer === "closed" ? { granted: false } : answer };
    },
  });

  return {
    ...reserving((ledger, command, trace) => ledger.submit(command, trace)),

    async charge({ policy, name, cost, at, trace }) {
      const day = dayIn(policy.timeZone, at);
      await days.enter(policy, day, trace);
      const ledger = inMemory.get(dayLedger(policy.id, day), policy.account);
      await ledger.submit({ type: "Charge", event: name, cost }, trace);
    },

    async release({ stream, account, event, answer: { reservation } }, trace) {
      if (reservation === undefined) return;
      await inMemory.get(stream, account).submit({ type: "Release", event, reservation }, trace);
    },

    preview: {
      ...reserving(async (ledger, command) => {
        const answer = await ledger.preview(command);
        if (answer === "closed") return answer;
        const { reservation: _none, ...figures } = answer;
        return figures;
      }),
      release: async () => undefined,
    },

    settle({ stream, account, event, answer: { reservation: upTo } }, cost) {
      if (upTo === undefined) return;
      inMemory.get(stream, account).settleLater({ type: "Settle", event, cost, upTo });
    },

    async settleNow({ stream, account, event, cost, trace }) {
      await inMemory.get(stream, account).submit({ type: "Settle", event, cost }, trace);
    },

    resolve: (stream, account, event) => inMemory.get(stream, account).resolve(event),
    holders: (stream, account) => inMemory.get(stream, account).holders(),
    figures: (stream, account) => inMemory.get(stream, account).figures(),
    sweep: (isStopping) => inMemory.sweep(isStopping),
    idle: () => inMemory.idle(),
    turns: {
      dayLedger(policy) {
        const day = days.entered(policy, dayIn(policy.timeZone, deps.clock.now()));
        return day === null ? null : dayLedger(policy.id, day);
      },
      take: (stream, account) => inMemory.get(stream, account).tryTurn(),
      whenFree: (stream, account) => inMemory.get(stream, account).whenFree(),
    },
  };
};
