import { randomUUID } from "node:crypto";
import type { Appended, EventLog, Expected, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";
import { checkAppend, checkPage, checkRevision, checkSize, numberOf, positionOf } from "../event-log-arguments.ts";
import { LogUnavailable } from "../log-errors.ts";
import { BLANK_TYPE, isErasable, parseErasable, parseStreamName } from "../stream-name.ts";

/** JSON text, so no reference can change it, and what JSON does not carry is lost; null if erased. */
type Entry = { readonly id: string; readonly position: number; text: string | null };

/** The log in memory, for tests, with the semantics of the durable adapters. */
export const memoryEventLog = (): EventLog => {
  const identity = randomUUID();
  const all: Entry[] = [];
  const streams = new Map<string, Entry[]>();
  // Wrapped, so that the same function may listen twice.
  const listeners = new Set<{ readonly wake: () => void }>();
  let isClosed = false;

  const checkOpen = (): void => {
    if (isClosed) throw new LogUnavailable("the event log is closed");
  };

  const entriesOf = (stream: string): Entry[] => {
    parseStreamName(stream);
    return streams.get(stream) ?? [];
  };

  // Only `insert` writes the text.
  const recorded = (text: string): RecordedEvent => JSON.parse(text) as RecordedEvent;
  const isRecord = ({ stream }: RecordedEvent): boolean => !isErasable(parseStreamName(stream));

  const page = (entries: readonly Entry[], from: number, limit: number): RecordedEvent[] => {
    const events: RecordedEvent[] = [];
    for (let index = from; index < entries.length && events.length < limit; index += 1) {
      const text = entries[index]?.text ?? null;
      if (text !== null) events.push(recorded(text));
    }
    return events;
  };

  const newest = (entries: readonly Entry[]): RecordedEvent | null => {
    const text = entries.findLast((entry) => entry.text !== null)?.text ?? null;
    return text === null ? null : recorded(text);
  };

  const wakeAll = (): void => {
    for (const listener of listeners) {
      setImmediate(() => {
        if (listeners.has(listener)) listener.wake();
      });
    }
  };

  const insert = (stream: string, events: readonly NewEvent[]): Appended => {
    const entries = entriesOf(stream);
    streams.set(stream, entries);
    for (const { id, type, data, meta } of events) {
      const number = all.length + 1;
      const position = positionOf(number);
      const event: RecordedEvent = { id, type, data, meta, stream, revision: entries.length, position };
      const entry: Entry = { id, position: number, text: JSON.stringify(event) };
      entries.push(entry);
      all.push(entry);
    }
    wakeAll();
    return { outcome: "appended", revision: entries.length - 1, position: positionOf(all.length) };
  };

  const erase = (entries: Entry[], upTo: number): void => {
    const text = entries.at(-1)?.text ?? null;
    const takesRevision = text !== null && entries.length - 1 <= upTo && recorded(text).type !== BLANK_TYPE;
    for (const entry of entries.slice(0, upTo + 1)) entry.text = null;
    if (!takesRevision) return;
    const blank: Entry = { id: "", position: all.length + 1, text: null };
    entries.push(blank);
    all.push(blank);
  };

  /** The outcome of the earlier append if its events stand at `first`. */
  const repeatOf = (stream: string, first: number, events: readonly NewEvent[]): Appended | null => {
    const stored = entriesOf(stream).slice(Math.max(first, 0), first + events.length);
    const last = stored.at(-1);
    if (last === undefined || !events.every(({ id }, index) => id === stored[index]?.id)) return null;
    return { outcome: "appended", revision: first + events.length - 1, position: positionOf(last.position) };
  };

  const append = (stream: string, expected: Expected, events: readonly NewEvent[]): Appended => {
    const head = entriesOf(stream).length - 1;
    if (expected === "any") return repeatOf(stream, head + 1 - events.length, events) ?? insert(stream, events);
    const before = expected === "absent" ? -1 : expected;
    if (before === head) return insert(stream, events);
    return repeatOf(stream, before + 1, events) ?? { outcome: "conflict", actual: head === -1 ? "absent" : head };
  };

  return {
    async append(stream, expected, events) {
      parseStreamName(stream);
      checkAppend(expected, events);
      checkSize(
        events.map(({ type, data, meta }) => ({ type, data: JSON.stringify(data), meta: JSON.stringify(meta) })),
      );
      checkOpen();
      return append(stream, expected, events);
    },

    async read(stream, after, limit) {
      checkPage(after, limit);
      return page(entriesOf(stream), (after ?? -1) + 1, limit);
    },

    async last(stream) {
      return newest(entriesOf(stream));
    },

    async readAll(after, limit, what = "everything") {
      checkPage(null, limit);
      if (what === "everything") return page(all, numberOf(after), limit);
      return page(all, numberOf(after), all.length).filter(isRecord).slice(0, limit);
    },

    async readTypes(types, after, limit) {
      checkPage(null, limit);
      const behind = page(all, numberOf(after), all.length);
      const events = behind.filter(({ type }) => types.includes(type)).slice(0, limit);
      const upTo = (events.length < limit ? behind : events).at(-1)?.position ?? null;
      return { events, upTo };
    },

    async head(what = "everything") {
      if (what === "everything") return newest(all)?.position ?? null;
      const last = all.findLast(({ text }) => text !== null && isRecord(recorded(text)));
      return last === undefined ? null : positionOf(last.position);
    },

    identity: async () => identity,

    async erase(stream, upTo = Number.MAX_SAFE_INTEGER) {
      parseErasable(stream);
      checkRevision(upTo);
      checkOpen();
      erase(entriesOf(stream), upTo);
    },

    bytesRemoved: "within-seconds",

    onAppended(wake) {
      const listener = { wake };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async close() {
      isClosed = true;
      listeners.clear();
    },
  };
};
