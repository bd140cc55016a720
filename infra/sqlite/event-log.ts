import { resolve } from "node:path";
import type { EventLog, GroupedAppend, GroupedOutcome, NewEvent } from "../../domain/ports/event-log.ts";
import { checkAppend, checkGroup, checkPage, checkRevision } from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { type Appender, type AppenderOptions, openAppender } from "./event-log-appender.ts";
import { openReader } from "./event-log-reader.ts";
import { appendedSignal } from "./event-log-signal.ts";
import type { Append } from "./event-log-writer.ts";

type GroupAppend = Append<NewEvent> & Pick<GroupedAppend, "follows">;

export type SqliteEventLogOptions = AppenderOptions & {
  readonly readOnly?: boolean;
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

  const note = (append: Append<NewEvent>, outcome: GroupedOutcome | undefined): void => {
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
      const append = { kind: "append", ...name, expected, events } as const;
      const outcome = await appender.submit(append);
      if (outcome.outcome === "erased" || outcome.outcome === "group")
        throw new Error("an append was answered as another operation");
      note(append, outcome);
      return outcome;
    },

    async appendGroup(group) {
      const names = group.map(({ stream }) => parseStreamName(stream));
      checkGroup(group);
      const appends = group.map(({ expected, events, follows }, index): GroupAppend => {
        const { category = "", key = "" } = names[index] ?? {};
        return { kind: "append", category, key, expected, events, follows };
      });
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
