import { randomUUID } from "node:crypto";
import type { EventLog, NewEvent } from "../../domain/ports/event-log.ts";
import {
  checkAppend,
  checkGroup,
  checkGroupSize,
  checkPage,
  checkRevision,
  checkSize,
  type EventText,
  numberOf,
} from "../event-log-arguments.ts";
import { appendedInOrder, isAppended } from "../grouped-appends.ts";
import { listening } from "../listeners.ts";
import { LogUnavailable } from "../log-errors.ts";
import { parseErasable, parseStreamName } from "../stream-name.ts";
import { Entries, isRecord } from "./entries.ts";

const textsOf = (events: readonly NewEvent[]): EventText[] =>
  events.map(({ type, data, meta }) => ({ type, data: JSON.stringify(data), meta: JSON.stringify(meta) }));

export const memoryEventLog = (): EventLog => {
  const identity = randomUUID();
  const entries = new Entries();
  const listeners = listening(() => () => undefined);
  let isClosed = false;

  const checkOpen = (): void => {
    if (isClosed) throw new LogUnavailable("the event log is closed");
  };

  return {
    async append(stream, expected, events) {
      parseStreamName(stream);
      checkAppend(expected, events);
      checkSize(textsOf(events));
      checkOpen();
      const appended = entries.append(stream, expected, events);
      if (appended.outcome === "appended") listeners.wakeSoon();
      return appended;
    },

    async appendGroup(appends) {
      for (const { stream } of appends) parseStreamName(stream);
      checkGroup(appends);
      checkGroupSize(appends.map(({ events }) => textsOf(events)));
      checkOpen();
      const outcomes = appendedInOrder(appends, ({ stream, expected, events }) =>
        entries.append(stream, expected, events),
      );
      if (outcomes.some(isAppended)) listeners.wakeSoon();
      return outcomes;
    },

    async read(stream, after, limit) {
      checkPage(after, limit);
      return entries.inStream(stream, (after ?? -1) + 1, limit);
    },

    async last(stream) {
      return entries.lastIn(stream);
    },

    async readAll(after, limit, what = "everything") {
      checkPage(null, limit);
      if (what === "everything") return entries.after(numberOf(after), limit);
      return entries.after(numberOf(after)).filter(isRecord).slice(0, limit);
    },

    async readTypes(types, after, limit) {
      checkPage(null, limit);
      const rest = entries.after(numberOf(after));
      const events = rest.filter(({ type }) => types.includes(type)).slice(0, limit);
      const upTo = (events.length < limit ? rest : events).at(-1)?.position ?? null;
      return { events, upTo };
    },

    async head(what = "everything") {
      return entries.last(what === "everything" ? () => true : isRecord)?.position ?? null;
    },

    identity: async () => identity,

    async erase(stream, upTo = Number.MAX_SAFE_INTEGER) {
      parseErasable(stream);
      checkRevision(upTo);
      checkOpen();
      entries.erase(stream, upTo);
    },

    bytesRemoved: "within-seconds",

    onAppended: (wake) => listeners.listen(wake),

    async close() {
      isClosed = true;
      listeners.close();
    },
  };
};
