import type { AppendOutcome, Expected, NewEvent, RecordedEvent } from "../../domain/ports/event-log.ts";
import { positionOf } from "../event-log-arguments.ts";
import { BLANK_TYPE, isErasable, parseStreamName } from "../stream-name.ts";

/** `text` is the event in JSON, so that no caller can change it and it loses what it would on disk; null if erased. */
type Entry = { readonly id: string; readonly position: number; text: string | null };

// Only `Entries` writes the text, so it is a recorded event.
const recorded = (text: string): RecordedEvent => JSON.parse(text) as RecordedEvent;

export const isRecord = ({ stream }: RecordedEvent): boolean => !isErasable(parseStreamName(stream));

export class Entries {
  readonly #all: Entry[] = [];
  readonly #streams = new Map<string, Entry[]>();

  after(position: number, limit = this.#all.length): RecordedEvent[] {
    return this.#page(this.#all, position, limit);
  }

  inStream(stream: string, revision: number, limit: number): RecordedEvent[] {
    return this.#page(this.#of(stream), revision, limit);
  }

  lastIn(stream: string): RecordedEvent | null {
    return this.#last(this.#of(stream), () => true);
  }

  last(isWanted: (event: RecordedEvent) => boolean): RecordedEvent | null {
    return this.#last(this.#all, isWanted);
  }

  append(stream: string, expected: Expected, events: readonly NewEvent[]): AppendOutcome {
    const head = this.#of(stream).length - 1;
    if (expected === "any")
      return this.#repeatOf(stream, head + 1 - events.length, events) ?? this.#insert(stream, events);
    const before = expected === "absent" ? -1 : expected;
    if (before === head) return this.#insert(stream, events);
    return this.#repeatOf(stream, before + 1, events) ?? { outcome: "conflict", actual: head === -1 ? "absent" : head };
  }

  erase(stream: string, upTo: number): void {
    const entries = this.#of(stream);
    const text = entries.at(-1)?.text ?? null;
    const takesRevision = text !== null && entries.length - 1 <= upTo && recorded(text).type !== BLANK_TYPE;
    for (const entry of entries.slice(0, upTo + 1)) entry.text = null;
    if (!takesRevision) return;
    const blank: Entry = { id: "", position: this.#all.length + 1, text: null };
    entries.push(blank);
    this.#all.push(blank);
  }

  #of(stream: string): Entry[] {
    parseStreamName(stream);
    return this.#streams.get(stream) ?? [];
  }

  #page(entries: readonly Entry[], from: number, limit: number): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    for (let index = from; index < entries.length && events.length < limit; index += 1) {
      const text = entries[index]?.text ?? null;
      if (text !== null) events.push(recorded(text));
    }
    return events;
  }

  #last(entries: readonly Entry[], isWanted: (event: RecordedEvent) => boolean): RecordedEvent | null {
    const text = entries.findLast((entry) => entry.text !== null && isWanted(recorded(entry.text)))?.text ?? null;
    return text === null ? null : recorded(text);
  }

  #insert(stream: string, events: readonly NewEvent[]): AppendOutcome {
    const entries = this.#of(stream);
    this.#streams.set(stream, entries);
    for (const { id, type, data, meta } of events) {
      const position = this.#all.length + 1;
      const event: RecordedEvent = {
        ...{ id, type, data, meta, stream },
        revision: entries.length,
        position: positionOf(position),
      };
      const entry: Entry = { id, position, text: JSON.stringify(event) };
      entries.push(entry);
      this.#all.push(entry);
    }
    return { outcome: "appended", revision: entries.length - 1, position: positionOf(this.#all.length) };
  }

  #repeatOf(stream: string, first: number, events: readonly NewEvent[]): AppendOutcome | null {
    const stored = this.#of(stream).slice(Math.max(first, 0), first + events.length);
    const last = stored.at(-1);
    if (last === undefined || !events.every(({ id }, index) => id === stored[index]?.id)) return null;
    return { outcome: "appended", revision: first + events.length - 1, position: positionOf(last.position) };
  }
}
