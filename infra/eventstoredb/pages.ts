import type { Revision } from "../../domain/ports.ts";
import { type Connection, ConnectionFailure, type Cursor, type StoredEvent } from "./connection.ts";
import { compare } from "./positions.ts";

/**
 * Pages as they have to be: without gaps, in order, each event once. A server, or what stands between, that gives a page
 * again or one of somebody else's is not believed: the read counts as failed and is made again.
 */
export type Pages = {
  /** From a revision on, at most `count`. */
  stream(stream: string, from: Revision, count: number, idleMs: number): Promise<readonly StoredEvent[]>;
  /** The newest first. */
  newest(stream: string, count: number, idleMs: number): Promise<readonly StoredEvent[]>;
  /** Behind a cursor, at most `count`; `isEnd` when the log has no more. */
  allAfter(after: Cursor | null, count: number, idleMs: number): Promise<Page>;
  /** Before a cursor or the end, the newest first; `isEnd` when there is nothing before. */
  allBefore(before: Cursor | "end", count: number, idleMs: number): Promise<Page>;
};

export type Page = { readonly events: readonly StoredEvent[]; readonly isEnd: boolean };

const wrong = (what: string): ConnectionFailure => new ConnectionFailure("unknown", "other", `the server gave ${what}`);

/** The page without repeats of the event before; throws when one is out of order. */
const inOrder = (page: readonly StoredEvent[], order: (a: StoredEvent, b: StoredEvent) => number): StoredEvent[] => {
  const kept: StoredEvent[] = [];
  for (const event of page) {
    const before = kept.at(-1);
    const step = before === undefined ? 1 : order(before, event);
    if (step < 0) throw wrong("a page that is out of order");
    if (step > 0) kept.push(event);
  }
  return kept;
};

const rising = (a: StoredEvent, b: StoredEvent): number => compare(b.at, a.at);
const falling = (a: StoredEvent, b: StoredEvent): number => compare(a.at, b.at);
/** One more than the event before, or the same again: anything else is out of order. */
const next = (a: StoredEvent, b: StoredEvent): number => {
  const step = b.revision - a.revision;
  return step === 0 || step === 1 ? step : -1;
};

export const pages = (connection: Connection): Pages => {
  const checkStream = (stream: string, page: readonly StoredEvent[]): void => {
    if (page.some((event) => event.stream !== stream)) throw wrong("events of another stream");
  };

  /** A page may begin later than it was asked to where something was removed: then it does so every time. */
  const isAgain = async (first: StoredEvent, again: () => Promise<readonly StoredEvent[]>): Promise<boolean> => {
    const [second] = await again();
    return second !== undefined && compare(second.at, first.at) === 0;
  };

  return {
    async stream(stream, from, count, idleMs) {
      const read = (countMax: number) =>
        connection.readStream(stream, { direction: "forwards", from, count: countMax }, idleMs);
      const page = await read(count);
      checkStream(stream, page);
      const events = inOrder(page, next);
      const [first] = events;
      if (first === undefined || first.revision === from) return events;
      if (first.revision < from || !(await isAgain(first, () => read(1)))) throw wrong("another page of the stream");
      return events;
    },

    async newest(stream, count, idleMs) {
      const page = await connection.readStream(stream, { direction: "backwards", from: "end", count }, idleMs);
      checkStream(stream, page);
      return inOrder(page, (a, b) => next(b, a));
    },

    async allAfter(after, count, idleMs) {
      // Inclusive: the first event is the one that is known.
      const from = after ?? "start";
      const asked = after === null ? count : count + 1;
      const read = (countMax: number) => connection.readAll({ direction: "forwards", from, count: countMax }, idleMs);
      const page = await read(asked);
      const events = inOrder(page, rising);
      const [first] = events;
      const isEnd = page.length < asked;
      if (first === undefined) return { events, isEnd };
      if (after !== null && compare(first.at, after) === 0) {
        if (events.length === 1 && !isEnd) throw wrong("nothing but what is known");
        return { events: events.slice(1), isEnd };
      }
      if (after !== null && compare(first.at, after) < 0) throw wrong("a page of before");
      if (!(await isAgain(first, () => read(1)))) throw wrong("another page of the log");
      return { events: events.slice(0, count), isEnd };
    },

    async allBefore(before, count, idleMs) {
      const page = await connection.readAll({ direction: "backwards", from: before, count }, idleMs);
      const events = inOrder(page, falling);
      const [first] = events;
      if (first !== undefined && before !== "end" && compare(first.at, before) >= 0) throw wrong("a page of behind");
      return { events, isEnd: page.length < count };
    },
  };
};
