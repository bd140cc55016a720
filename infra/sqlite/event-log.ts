import { resolve } from "node:path";
import type { AppendOutcome, EventLog, Metadata, NewEvent } from "../../domain/ports/event-log.ts";
import { checkAppend, checkPage, checkRevision, checkSize } from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { type Appender, type AppenderOptions, openAppender } from "./event-log-appender.ts";
import { openReader } from "./event-log-reader.ts";
import { appendedSignal } from "./event-log-signal.ts";
import type { EventText } from "./event-log-writer.ts";

export type SqliteEventLogOptions = AppenderOptions & {
  readonly readOnly?: boolean;
};

const toText = (events: readonly NewEvent[]): EventText[] => {
  let shared: Metadata | undefined;
  let meta = "";
  return events.map((event) => {
    if (event.meta !== shared) {
      shared = event.meta;
      meta = JSON.stringify(shared);
    }
    return { id: event.id, type: event.type, data: JSON.stringify(event.data), meta };
  });
};

const readOnlyAppender: Appender = {
  submit: async () => {
    throw new LogUnavailable("the event log was opened for reading only");
  },
  close: async () => undefined,
};

/** Any number of threads and processes may open the file. Throws a plain `Error` for a file that is no event log. */
export const sqliteEventLog = async (options: SqliteEventLogOptions): Promise<EventLog> => {
  const { readOnly = false, ...others } = options;
  const path = resolve(options.path);
  const appender = readOnly ? readOnlyAppender : await openAppender({ ...others, path });
  const reader = openReader(path);
  const signal = appendedSignal(path, reader.dataVersion);
  let closing: Promise<void> | undefined;
  let identity: string | null = null;

  const close = async (): Promise<void> => {
    signal.close();
    // The writer's last checkpoint waits for no reader, so the reader is closed before the writer.
    reader.close();
    await appender.close();
  };

  return {
    async append(stream, expected, events): Promise<AppendOutcome> {
      const { category, key } = parseStreamName(stream);
      checkAppend(expected, events);
      const texts = toText(events);
      checkSize(texts);
      const outcome = await appender.submit({ kind: "append", category, key, expected, events: texts });
      if (outcome.outcome === "erased") throw new Error("an append was answered as an erasure");
      return outcome;
    },

    async read(stream, after, limit) {
      checkPage(after, limit);
      return reader.read(parseStreamName(stream), after, limit);
    },

    async last(stream) {
      return reader.last(parseStreamName(stream));
    },

    async readAll(after, limit, what = "everything") {
      checkPage(null, limit);
      return reader.readAll(after, limit, what);
    },

    async readTypes(types, after, limit) {
      checkPage(null, limit);
      return reader.readTypes(types, after, limit);
    },

    async head(what = "everything") {
      return reader.head(what);
    },

    async identity() {
      identity ??= reader.identity();
      return identity;
    },

    async erase(stream, upTo = Number.MAX_SAFE_INTEGER) {
      const { category, key } = parseErasable(stream);
      checkRevision(upTo);
      await appender.submit({ kind: "erase", category, key, upTo });
    },

    bytesRemoved: "within-seconds",

    onAppended: (wake) => signal.listen(wake),

    close() {
      closing ??= close();
      return closing;
    },
  };
};
