import type { Revision } from "../../domain/ports/event-log.ts";
import { type AllPage, type Connection, ConnectionFailure, type Cursor, type StoredEvent } from "./connection.ts";
import { compare } from "./positions.ts";

/** Pages with gaps or out of order, as a faulty server or proxy may give them, count as failures and are read again. */
export type Pages = {
  stream(stream: string, from: Revision, count: number, idleMs: number): Promise<readonly StoredEvent[]>;
  newest(stream: string, count: number, idleMs: number): Promise<readonly StoredEvent[]>;
  allAfter(after: Cursor | null, count: number, idleMs: number, choice: Choice): Promise<Page>;
  allBefore(before: Cursor | "end", count: number, idleMs: number, only?: AllPage["only"]): Promise<Page>;
};

/** Which events the server leaves out, and whose data is not kept. */
export type Choice = Pick<AllPage, "only" | "wanted">;

export type Page = { readonly events: readonly StoredEvent[]; readonly isEnd: boolean };

const wrong = (what: string): ConnectionFailure => new ConnectionFailure("unknown", "other", `the server gave ${what}`);

const checkOrder = (page: readonly StoredEvent[], follows: (a: StoredEvent, b: StoredEvent) => boolean): void => {
  let before: StoredEvent | undefined;
  for (const event of page) {
    if (before !== undefined && !follows(before, event)) throw wrong("a page that is out of order");
    before = event;
  }
};

const rising = (a: StoredEvent, b: StoredEvent): boolean => compare(a.at, b.at) < 0;
const falling = (a: StoredEvent, b: StoredEvent): boolean => compare(a.at, b.at) > 0;
const next = (a: StoredEvent, b: StoredEvent): boolean => b.revision === a.revision + 1;

export const pages = (connection: Connection): Pages => {
  const checkStream = (stream: string, page: readonly StoredEvent[]): void => {
    if (page.some((event) => event.stream !== stream)) throw wrong("events of another stream");
  };

  /** A page may begin later than asked because events were removed; then a second read begins with the same event. */
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
      checkOrder(page, next);
      const [first] = page;
      if (first === undefined || first.revision === from) return page;
      if (first.revision < from || !(await isAgain(first, () => read(1)))) throw wrong("another page of the stream");
      return page;
    },

    async newest(stream, count, idleMs) {
      const page = await connection.readStream(stream, { direction: "backwards", from: "end", count }, idleMs);
      checkStream(stream, page);
      checkOrder(page, (a, b) => next(b, a));
      return page;
    },

    async allAfter(after, count, idleMs, choice) {
      // The server's page includes the event at `from`, which is known already, so one more event is asked for.
      const from = after ?? "start";
      const asked = after === null ? count : count + 1;
      const read = (countMax: number) =>
        connection.readAll({ direction: "forwards", from, count: countMax, ...choice }, idleMs);
      const page = await read(asked);
      checkOrder(page, rising);
      const [first] = page;
      const isEnd = page.length < asked;
      if (first === undefined) return { events: page, isEnd };
      const order = after === null ? 1 : compare(first.at, after);
      if (order === 0) return { events: page.slice(1), isEnd };
      if (order < 0 || !(await isAgain(first, () => read(1)))) throw wrong("another page of the log");
      return { events: page.slice(0, count), isEnd };
    },

    async allBefore(before, count, idleMs, only) {
      const choice: Choice = only === undefined ? { wanted: () => false } : { only, wanted: () => false };
      const events = await connection.readAll({ direction: "backwards", from: before, count, ...choice }, idleMs);
      checkOrder(events, falling);
      const [first] = events;
      if (first !== undefined && before !== "end" && compare(first.at, before) >= 0)
        throw wrong("a page after the cursor");
      return { events, isEnd: events.length < count };
    },
  };
};
