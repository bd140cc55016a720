import type { Expected, GroupedAppend, NewEvent, Position, Revision } from "../domain/ports/event-log.ts";
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
  if (events.length > 1 && new Set(events.map(({ id }) => id)).size < events.length)
    throw new TypeError("two events with one id");
};

/** EventStoreDB refuses larger appends (`MaxAppendSize`: 1,048,576 bytes), and every log must be able to move there. */
export const APPEND_BYTES_MAX = 1_000_000;

const UTF8_BYTES_PER_UNIT_MAX = 3;

/** A group is one transaction of the embedded log: so small that nobody waits long for the inserts of another's. */
export const GROUP_APPENDS_MAX = 512;
export const GROUP_BYTES_MAX = 8_000_000;

export const checkGroup = (appends: readonly GroupedAppend[]): void => {
  if (appends.length === 0) throw new TypeError("nothing to append");
  if (appends.length > GROUP_APPENDS_MAX)
    throw new TypeError(`a group of ${appends.length} appends: at most ${GROUP_APPENDS_MAX} are taken at once`);
  for (const [index, { expected, events, follows }] of appends.entries()) {
    // The type excludes "any": without a revision no repeat of a group could be recognised.
    if (expected !== "absent" && !isRevision(expected)) throw new TypeError(`not an expected revision: ${expected}`);
    checkAppend(expected, events);
    if (!follows.every((earlier) => isRevision(earlier) && earlier < index))
      throw new TypeError(`append ${index} of a group may follow earlier ones alone: ${follows}`);
  }
};

export type EventText = { readonly type: string; readonly data: string; readonly meta: string };

export const lengthOf = (events: readonly EventText[]): number =>
  events.reduce((length, { type, data, meta }) => length + type.length + data.length + meta.length, 0);

const bytesOf = (events: readonly EventText[]): number => {
  let bytes = 0;
  for (const texts of events) {
    for (const text of [texts.type, texts.data, texts.meta]) bytes += Buffer.byteLength(text);
  }
  return bytes;
};

const checkBytes = (events: readonly EventText[], bytesMax: number): void => {
  // Most appends are so short that they need not be counted exactly.
  if (lengthOf(events) * UTF8_BYTES_PER_UNIT_MAX <= bytesMax) return;
  const bytes = bytesOf(events);
  if (bytes > bytesMax) throw new AppendTooLarge(bytes, bytesMax);
};

export const checkSize = (events: readonly EventText[]): void => checkBytes(events, APPEND_BYTES_MAX);

export const checkGroupSize = (appends: readonly (readonly EventText[])[]): void => {
  for (const events of appends) checkSize(events);
  checkBytes(appends.flat(), GROUP_BYTES_MAX);
};

export const checkRevision = (revision: Revision): void => {
  if (!isRevision(revision)) throw new TypeError(`not a revision: ${revision}`);
};

export const checkPage = (after: Revision | null, limit: number): void => {
  if (after !== null) checkRevision(after);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError(`not a page size: ${limit}`);
};

const ZEROS = "0".repeat(16);

/** A position has sixteen digits, enough for any safe integer, so that positions compare as text. */
export const positionOf = (number: number): Position => {
  const digits = String(number);
  return ZEROS.slice(digits.length) + digits;
};

export const numberOf = (after: Position | null): number => {
  if (after === null) return 0;
  if (!POSITION.test(after)) throw new TypeError(`not a position of this log: ${after}`);
  return Number(after);
};
