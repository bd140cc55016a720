import type { Expected, NewEvent, Position, Revision } from "../domain/ports/event-log.ts";
import { AppendTooLarge } from "./log-errors.ts";

/** What an adapter of the event log checks before it does anything: each of these is a bug of the caller, and throws. */

/** No control characters and no lone surrogates: engines cut, replace or refuse them. (Data is JSON, which escapes them.) */
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u;
const POSITION = /^\d{16}$/;

const isRevision = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

export const checkAppend = (expected: Expected, events: readonly NewEvent[]): void => {
  if (expected !== "absent" && expected !== "any" && !isRevision(expected))
    throw new TypeError(`not an expected revision: ${expected}`);
  if (events.length === 0) throw new TypeError("nothing to append");
  // An empty type is how an adapter may mark what was erased.
  if (!events.every(({ id, type }) => TEXT.test(id) && TEXT.test(type)))
    throw new TypeError("an event has an id and a type, both printable");
  if (new Set(events.map(({ id }) => id)).size < events.length) throw new TypeError("two events with one id");
};

/**
 * The bytes of one append: the data, metadata and types of its events as UTF-8 JSON. EventStoreDB takes 1,048,576 (its
 * `MaxAppendSize`), newer servers counting types twice over and a little for each event: the margin is for that. Every
 * engine has the same limit, so that whatever one holds can be moved to another.
 */
export const APPEND_BYTES_MAX = 1_000_000;

/** No UTF-16 unit takes more in UTF-8: a surrogate pair takes four for its two. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

/** What is to be written of one event: `data` and `meta` as JSON text. */
export type Measured = { readonly type: string; readonly data: string; readonly meta: string };

/** Throws `AppendTooLarge` for an append above `APPEND_BYTES_MAX`. Most are so short that their bytes need not be counted. */
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

/** Positions of the embedded logs: 16 decimal digits hold every safe integer and sort as text. */
export const positionOf = (number: number): Position => String(number).padStart(16, "0");

/** The number of a position, 0 for the beginning. */
export const numberOf = (after: Position | null): number => {
  if (after === null) return 0;
  if (!POSITION.test(after)) throw new TypeError(`not a position of this log: ${after}`);
  return Number(after);
};
