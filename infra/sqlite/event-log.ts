import { resolve } from "node:path";
import type { EventLog, GroupedAppend, GroupedOutcome, Metadata, NewEvent } from "../../domain/ports/event-log.ts";
import {
  APPEND_BYTES_MAX,
  checkAppend,
  checkGroup,
  checkGroupSize,
  checkPage,
  checkRevision,
  lengthOf,
} from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { type Appender, type AppenderOptions, openAppender } from "./event-log-appender.ts";
import { openReader } from "./event-log-reader.ts";
import { appendedSignal } from "./event-log-signal.ts";
import type { Append, EventText } from "./event-log-writer.ts";
import { metadataIn, metadataText, NAMES_MAX_LENGTH } from "./metadata-text.ts";

type GroupedText = Append<EventText> & Pick<GroupedAppend, "follows">;

export type SqliteEventLogOptions = AppenderOptions & {
  readonly readOnly?: boolean;
};

/** A character has at most three bytes of UTF-8, so no append and no group of this length exceeds a limit. */
const COUNTED_FROM_LENGTH = APPEND_BYTES_MAX / 3;

/** Makes JSON of events. Events that share their metadata, as those of one command do, have it made once. */
const eventTexts = (): ((events: readonly NewEvent[]) => EventText[]) => {
  let shared: Metadata | undefined;
  let meta = "";
  return (events) =>
    events.map((event) => {
      if (event.meta !== shared) {
        shared = event.meta;
        meta = metadataText(shared);
      }
      return { id: event.id, type: event.type, data: JSON.stringify(event.data), meta };
    });
};

/** Most appends and groups are so short that they are not counted. The limits count metadata as JSON with its names. */
const checkSizes = (appends: readonly Append<EventText>[]): void => {
  const length = appends.reduce((sum, { events }) => sum + lengthOf(events) + events.length * NAMES_MAX_LENGTH, 0);
  if (length <= COUNTED_FROM_LENGTH) return;
  const withNames = (text: EventText): EventText => ({ ...text, meta: JSON.stringify(metadataIn(text.meta)) });
  checkGroupSize(appends.map(({ events }) => events.map(withNames)));
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

  const note = (append: Append<EventText>, outcome: GroupedOutcome | undefined): void => {
    if (outcome?.outcome === "appended") reader.appended(append, append.events.length, outcome.position);
  };

  const close = async (): Promise<void> => {
    signal.close();
    // The writer's last checkpoint waits for no reader, so the reader is closed before the writer.
    reader.close();
    await appender.close();
  };

  return {
    async append(stream, expected, events) {
      const name = parseStreamName(stream);
      checkAppend(expected, events);
      const append = { kind: "append", ...name, expected, events: eventTexts()(events) } as const;
      checkSizes([append]);
      const outcome = await appender.submit(append);
      if (outcome.outcome === "erased" || outcome.outcome === "group")
        throw new Error("an append was answered as another operation");
      note(append, outcome);
      return outcome;
    },

    async appendGroup(group) {
      const names = group.map(({ stream }) => parseStreamName(stream));
      checkGroup(group);
      const textsOf = eventTexts();
      const appends = group.map(({ expected, events, follows }, index): GroupedText => {
        const { category = "", key = "" } = names[index] ?? {};
        return { kind: "append", category, key, expected, events: textsOf(events), follows };
      });
      checkSizes(appends);
      const answer = await appender.submit({ kind: "group", appends });
      if (answer.outcome !== "group") throw new Error("a group was answered as another operation");
      for (const [index, append] of appends.entries()) note(append, answer.outcomes[index]);
      return answer.outcomes;
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
