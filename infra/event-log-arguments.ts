import type { Expected, NewEvent, Position, Revision } from "../domain/ports/event-log.ts";
import { AppendTooLarge } from "./log-errors.ts";

/** Engines cut, replace or refuse control characters and lone surrogates; in data, JSON escapes them. */
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u;
const POSITION = /^\d{16}$/;

const isRevision = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

export const checkAppend = (expected: Expected, events: readonly NewEvent[]): void => {
  if (expected !== "absent" && expected !== "any" && !isRevision(expected))
    throw new TypeError(`not an expected revision: ${expected}`);
  if (events.length === 0) throw new TypeError("nothing to append");
  // Adapters mark an erased event with an empty type.
  if (!events.every(({ id, type }) => TEXT.test(id) && TEXT.test(type)))
    throw new TypeError("an event has an id and a type, both printable");
  if (new Set(events.map(({ id }) => id)).size < events.length) throw new TypeError("two events with one id");
};

/**
 * Bytes of an append as UTF-8 JSON. EventStoreDB takes 1,048,576 (`MaxAppendSize`); newer servers count types twice and
 * a little for each event. All engines have this limit, so that a log can move to another.
 */
export const APPEND_BYTES_MAX = 1_000_000;

/** A surrogate pair takes four bytes for its two UTF-16 units. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

export type Measured = { readonly type: string; readonly data: string; readonly meta: string };

/** Throws `AppendTooLarge`. Most appends are so short that their bytes need not be counted. */
export const checkSize = (events: readonly Measured[]): void => {
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

/** 16 decimal digits hold every safe integer and sort as text. */
export const positionOf = (number: number): Position => String(number).padStart(16, "0");

/** Throws a `TypeError` for a position of another log. */
export const numberOf = (after: Position | null): number => {
  if (after === null) return 0;
  if (!POSITION.test(after)) throw new TypeError(`not a position of this log: ${after}`);
  return Number(after);
};
