import type { Expected, NewEvent, Position, Revision } from "../domain/ports/event-log.ts";
import { AppendTooLarge } from "./log-errors.ts";

/** Refuses control characters and lone surrogates in ids and types, which some engines cut or replace. */
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u;
const POSITION = /^\d{16}$/;

const isRevision = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

export const checkAppend = (expected: Expected, events: readonly NewEvent[]): void => {
  if (expected !== "absent" && expected !== "any" && !isRevision(expected))
    throw new TypeError(`not an expected revision: ${expected}`);
  if (events.length === 0) throw new TypeError("nothing to append");
  // The SQLite log marks an erased event by an empty type, so no event may have one.
  if (!events.every(({ id, type }) => TEXT.test(id) && TEXT.test(type)))
    throw new TypeError("an event has an id and a type, both printable");
  if (new Set(events.map(({ id }) => id)).size < events.length) throw new TypeError("two events with one id");
};

/** EventStoreDB refuses larger appends (`MaxAppendSize`: 1,048,576 bytes), and every log must be able to move there. */
export const APPEND_BYTES_MAX = 1_000_000;

const UTF8_BYTES_PER_UNIT_MAX = 3;

export type EventText = { readonly type: string; readonly data: string; readonly meta: string };

export const checkSize = (events: readonly EventText[]): void => {
  let length = 0;
  for (const { type, data, meta } of events) length += type.length + data.length + meta.length;
  if (length * UTF8_BYTES_PER_UNIT_MAX <= APPEND_BYTES_MAX) return;
  let bytes = 0;
  for (const texts of events) {
    for (const text of [texts.type, texts.data, texts.meta]) bytes += Buffer.byteLength(text);
  }
  if (bytes > APPEND_BYTES_MAX) throw new AppendTooLarge(bytes, APPEND_BYTES_MAX);
};

export const checkRevision = (revision: Revision): void => {
  if (!isRevision(revision)) throw new TypeError(`not a revision: ${revision}`);
};

export const checkPage = (after: Revision | null, limit: number): void => {
  if (after !== null) checkRevision(after);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError(`not a page size: ${limit}`);
};

/** A position has sixteen digits, enough for any safe integer, so that positions compare as text. */
export const positionOf = (number: number): Position => String(number).padStart(16, "0");

export const numberOf = (after: Position | null): number => {
  if (after === null) return 0;
  if (!POSITION.test(after)) throw new TypeError(`not a position of this log: ${after}`);
  return Number(after);
};
