import type { Clock } from "../../domain/ports/clock.ts";
import type { Appended, EventLog, Expected, NewEvent } from "../../domain/ports/event-log.ts";
import { systemClock } from "../clock.ts";
import { checkAppend, checkPage, checkRevision, checkSize } from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { within } from "../within.ts";
import { anyAppends } from "./any-appends.ts";
import { appendedSignal } from "./appended-signal.ts";
import { exactAppends } from "./appends.ts";
import { logAttempts } from "./attempts.ts";
import { clientConnection } from "./client.ts";
import { CLOCKS_APART_MS_MAX } from "./clock-check.ts";
import { type ClockWatch, clockWatch } from "./clock-watch.ts";
import type { ProposedEvent } from "./connection.ts";
import { readConnectionString } from "./connection-string.ts";
import { erasures } from "./erasures.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { checkOpened, lookAtClock, nameOf, type Opened } from "./opening.ts";
import { pages as pagesOf } from "./pages.ts";
import { reads as readsOf } from "./reads.ts";
import { isErasableStream } from "./recorded.ts";
import { warnOfAddressUnseen } from "./tls-address.ts";

export type EventStoreLogOptions = {
  /** https://developers.eventstore.com/clients/grpc/getting-started.html#connection-string */
  readonly url: string;
  /** Writes nothing, not even the format's name; an append throws `LogUnavailable`. */
  readonly readOnly?: boolean;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  /**
   * If given, an append throws `LogUnavailable` while this machine's clock differs too much from the server's. Receives
   * each change: a sentence, or null when the clocks agree.
   */
  readonly onClock?: (problem: string | null) => void;
};

/** The server accepts no other ids, and returns them in lower case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The identity of an empty log that no node has begun. */
const UNNAMED = "unnamed";
/** More waiting than this is overload: the caller answers 503. */
const PENDING_APPENDS_MAX = 10_000;
const PENDING_BYTES_MAX = 64 * 1024 * 1024;

/** Throws `AppendTooLarge`. */
const proposed = (events: readonly NewEvent[]): ProposedEvent[] => {
  const texts = events.map(({ type, data, meta }) => ({
    type,
    data: JSON.stringify(data),
    meta: JSON.stringify(meta),
  }));
  checkSize(texts);
  const encoder = new TextEncoder();
  return events.map(({ id, type }, index) => {
    const { data = "", meta = "" } = texts[index] ?? {};
    return { id, type, data: encoder.encode(data), meta: encoder.encode(meta) };
  });
};

/**
 * The log in EventStoreDB 22.6 or newer. Any number of processes may write to it, but no other programs. Throws a plain
 * `Error` of one sentence if the server cannot be used, and `OtherFormat` for a log of another format.
 *
 * After its time limit an append is `OutcomeUnknown`, a read `LogUnavailable`.
 */
export const eventStoreLog = async (options: EventStoreLogOptions): Promise<EventLog> => {
  const { readOnly = false, clock = systemClock, onClock } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { url, address, asksAddressForTls } = readConnectionString(options.url);
  if (asksAddressForTls) warnOfAddressUnseen();
  const connection = clientConnection(url);
  const pages = pagesOf(connection);
  const reading = logAttempts(limits);
  const reads = readsOf(pages, reading);
  const exact = exactAppends(connection, pages, limits);
  const any = anyAppends(exact, pages, limits);
  const eraseStream = erasures(exact, pages, reading);
  const signal = appendedSignal(connection, () => reads.head("records"), limits);
  const pending = new Set<Promise<unknown>>();
  let pendingBytes = 0;
  let closing: Promise<void> | undefined;

  /** Closing waits for the writes under way. */
  const writing = async <T>(bytes: number, write: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new LogUnavailable("the event log is closed");
    if (readOnly) throw new LogUnavailable("the event log was opened for reading only");
    if (pending.size >= PENDING_APPENDS_MAX || pendingBytes + bytes > PENDING_BYTES_MAX)
      throw new LogUnavailable("too many appends are waiting");
    const work = write();
    pending.add(work);
    pendingBytes += bytes;
    try {
      return await work;
    } finally {
      pending.delete(work);
      pendingBytes -= bytes;
    }
  };

  const close = async (): Promise<void> => {
    watch?.close();
    signal.close();
    const settled = Promise.allSettled([...pending]);
    await within(limits.closeMs, "appends are still under way", settled).catch(() => undefined);
    await connection.close();
  };

  const append = async (stream: string, expected: Expected, events: readonly ProposedEvent[]): Promise<Appended> => {
    const appended = expected === "any" ? await any(stream, events) : await exact({ stream, expected, events });
    if (appended.outcome === "appended") signal.appended();
    return appended;
  };

  const hasRecords = async (): Promise<boolean> => (await reads.head("everything")) !== null;
  const opening = { address, pages, hasRecords, exact: readOnly ? null : exact, limits, clock };
  let opened: Opened;
  try {
    opened = await checkOpened(opening);
  } catch (error) {
    await connection.close();
    throw error;
  }

  let { identity } = opened;
  const watch: ClockWatch | null =
    onClock === undefined || readOnly
      ? null
      : clockWatch({
          ...{ first: opened.look, clock, limits, onChange: onClock },
          async look() {
            const look = await lookAtClock(opening);
            return look === "overtaken" ? null : look;
          },
        });

  /** Refuses decisions made while the clock was ahead, even if it is right by now. */
  const checkDecided = (events: readonly NewEvent[]): void => {
    const latest = Math.max(...events.map(({ meta }) => Date.parse(meta.recorded_at)));
    if (latest - clock.now() > CLOCKS_APART_MS_MAX)
      throw new LogUnavailable("this machine's clock was ahead of the server's when it was decided");
  };

  return {
    async append(stream, expected, events) {
      parseStreamName(stream);
      checkAppend(expected, events);
      if (!events.every(({ id }) => UUID.test(id))) throw new TypeError("an event's id is a UUID, in lower case");
      const made = proposed(events);
      const bytes = made.reduce((sum, { data, meta }) => sum + data.length + (meta?.length ?? 0), 0);
      return writing(bytes, async () => {
        await watch?.check();
        if (watch !== null) checkDecided(events);
        return append(stream, expected, made);
      });
    },

    async read(stream, after, limit) {
      checkPage(after, limit);
      parseStreamName(stream);
      return reads.read(stream, after, limit);
    },

    async last(stream) {
      parseStreamName(stream);
      // The last of the two may be the blank of an interrupted erasure.
      return (await reads.newest(stream, isErasableStream({ stream }) ? 2 : 1))[0] ?? null;
    },

    async readAll(after, limit, what = "everything") {
      checkPage(null, limit);
      return reads.readAll(after, limit, what);
    },

    async readTypes(types, after, limit) {
      checkPage(null, limit);
      return reads.readTypes(types, after, limit);
    },

    head: (what = "everything") => reads.head(what),

    async identity() {
      // Another node may have named the log since.
      identity ??= await nameOf(opening);
      return identity ?? UNNAMED;
    },

    async erase(stream, upTo = Number.MAX_SAFE_INTEGER) {
      parseErasable(stream);
      checkRevision(upTo);
      await writing(0, async () => {
        await watch?.check();
        await eraseStream(stream, upTo);
      });
    },

    bytesRemoved: "with-the-next-scavenge",

    onAppended: (wake) => signal.listen(wake),

    close() {
      closing ??= close();
      return closing;
    },
  };
};
