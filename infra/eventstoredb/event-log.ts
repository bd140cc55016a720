import type { Clock } from "../../domain/ports/clock.ts";
import type { AppendOutcome, EventLog, Expected, NewEvent } from "../../domain/ports/event-log.ts";
import { systemClock } from "../clock.ts";
import {
  checkAppend,
  checkGroup,
  checkGroupSize,
  checkRevision,
  checkSize,
  type EventText,
} from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { withTimeout } from "../with-timeout.ts";
import { anyAppends } from "./any-appends.ts";
import { type AppendedSignal, appendedSignal } from "./appended-signal.ts";
import { bytesOf, exactAppends } from "./appends.ts";
import { logAttempts } from "./attempts.ts";
import { clientConnection } from "./client.ts";
import { CLOCKS_APART_MS_MAX, type ClockLook } from "./clock-check.ts";
import { type ClockWatch, clockWatch } from "./clock-watch.ts";
import type { ProposedEvent } from "./connection.ts";
import { readConnectionString } from "./connection-string.ts";
import { erasures } from "./erasures.ts";
import { groupAppends } from "./group-appends.ts";
import { type Deadline, deadlineIn, LIMITS, type Limits } from "./limits.ts";
import { checkOpened, lookAtClock, nameOf, type OpenedLog } from "./opening.ts";
import { pages as pagesOf } from "./pages.ts";
import { PendingWrites } from "./pending-writes.ts";
import { type Reads, reads as readsOf } from "./reads.ts";
import { NO_ORDER, sendOrder } from "./send-order.ts";
import { warnOfAddressUnseen } from "./tls-address.ts";

export type EventStoreLogOptions = {
  readonly url: string;
  readonly readOnly?: boolean;
  /** Appends that are sent together are written in their order, also if a lost connection makes them go out again. */
  readonly keepsOrder?: boolean;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  /** A sentence if this machine's clock is so far from the server's that appends fail; null once it is near again. */
  readonly onClock?: ((problem: string | null) => void) | undefined;
};

/** The server accepts only UUIDs as ids, and returns them in lower case; other ids are refused here. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNNAMED = "unnamed";
const encoder = new TextEncoder();

type IdentifiedText = EventText & Pick<NewEvent, "id">;

const textsOf = (events: readonly NewEvent[]): IdentifiedText[] => {
  if (!events.every(({ id }) => UUID.test(id))) throw new TypeError("an event's id is a UUID, in lower case");
  return events.map(({ id, type, data, meta }) => ({
    ...{ id, type },
    data: JSON.stringify(data),
    meta: JSON.stringify(meta),
  }));
};

const proposed = (texts: readonly IdentifiedText[]): ProposedEvent[] =>
  texts.map(({ id, type, data, meta }) => ({ id, type, data: encoder.encode(data), meta: encoder.encode(meta) }));

/** Refuses events decided while this machine's clock was ahead of the server's, even if it is right by now. */
const checkDecided = (events: readonly NewEvent[], clock: Clock): void => {
  const latest = Math.max(...events.map(({ meta }) => Date.parse(meta.recorded_at)));
  if (latest - clock.now() > CLOCKS_APART_MS_MAX)
    throw new LogUnavailable("this machine's clock was ahead of the server's when it was decided");
};

/** Reads whose followers need no subscription as long as they find records. */
const seen = (reads: Reads, signal: AppendedSignal): Reads => ({
  ...reads,
  async readAll(after, limit, what) {
    const page = await reads.readAll(after, limit, what);
    const last = page.at(-1);
    if (last !== undefined) signal.saw(last.position);
    return page;
  },
  async readTypes(types, after, limit) {
    const page = await reads.readTypes(types, after, limit);
    if (page.upTo !== null) signal.saw(page.upTo);
    return page;
  },
});

/** The log in EventStoreDB 22.6 or newer. Throws a plain `Error` of one sentence if the server cannot be used. */
export const eventStoreLog = async (options: EventStoreLogOptions): Promise<EventLog> => {
  const { readOnly = false, keepsOrder = false, clock = systemClock, onClock } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { url, address, asksAddressForTls } = readConnectionString(options.url);
  if (asksAddressForTls) warnOfAddressUnseen();
  const connection = clientConnection(url);
  const pages = pagesOf(connection);
  const reading = logAttempts(limits);
  const reads = readsOf(pages, reading);
  const exact = exactAppends(connection, pages, limits, keepsOrder ? sendOrder() : NO_ORDER);
  const any = anyAppends(exact, pages, limits);
  const eraseStream = erasures(exact, pages, reading);
  const signal = appendedSignal(connection, () => reads.head("records"), limits);
  const writes = new PendingWrites(readOnly ? "the event log was opened for reading only" : null);
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    writes.refuse("the event log is closed");
    watch?.close();
    signal.close();
    await withTimeout(limits.closeMs, "appends are still under way", writes.settled()).catch(() => undefined);
    await connection.close();
  };

  const append = async (
    stream: string,
    expected: Expected,
    events: readonly ProposedEvent[],
    deadline?: Deadline,
  ): Promise<AppendOutcome> => {
    const appended =
      expected === "any" ? await any(stream, events) : await exact({ stream, expected, events }, deadline);
    if (appended.outcome === "appended") {
      signal.wakeSoon();
      signal.saw(appended.position);
    }
    return appended;
  };

  const hasRecords = async (): Promise<boolean> => (await reads.head("everything")) !== null;
  const opening = { address, pages, hasRecords, exact: readOnly ? null : exact, limits, clock };
  let opened: OpenedLog;
  try {
    opened = await checkOpened(opening);
  } catch (error) {
    await connection.close();
    throw error;
  }

  let { identity } = opened;
  const look = async (): Promise<ClockLook | null> => {
    const found = await lookAtClock(opening);
    return found === "overtaken" ? null : found;
  };
  const watch: ClockWatch | null =
    onClock === undefined || readOnly
      ? null
      : clockWatch({ first: opened.look, look, clock, limits, onChange: onClock });

  const checkClock = async (events: readonly NewEvent[]): Promise<void> => {
    await watch?.check();
    if (watch !== null) checkDecided(events, clock);
  };

  return {
    async append(stream, expected, events) {
      parseStreamName(stream);
      checkAppend(expected, events);
      const texts = textsOf(events);
      checkSize(texts);
      const made = proposed(texts);
      return writes.run(bytesOf(made), async () => {
        await checkClock(events);
        return append(stream, expected, made);
      });
    },

    async appendGroup(appends, onAnswer) {
      for (const { stream } of appends) parseStreamName(stream);
      checkGroup(appends);
      const texts = appends.map(({ events }) => textsOf(events));
      checkGroupSize(texts);
      const made = appends.map((one, index) => ({ ...one, events: proposed(texts[index] ?? []) }));
      return writes.run(bytesOf(made.flatMap(({ events }) => events)), async () => {
        await checkClock(appends.flatMap(({ events }) => events));
        const deadline = deadlineIn(limits.appendMs);
        const send = ({ stream, expected, events }: (typeof made)[number]) =>
          append(stream, expected, events, deadline);
        return groupAppends(made, send, onAnswer);
      });
    },

    ...seen(reads, signal),

    async identity() {
      identity ??= await nameOf(opening);
      return identity ?? UNNAMED;
    },

    async erase(stream, upTo = Number.MAX_SAFE_INTEGER) {
      parseErasable(stream);
      checkRevision(upTo);
      await writes.run(0, async () => {
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
