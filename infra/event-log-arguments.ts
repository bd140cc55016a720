import type { Expected, NewEvent, Position, Revision } from "../domain/ports.ts";

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

export const checkPage = (after: Revision | null, limit: number): void => {
  if (after !== null && !isRevision(after)) throw new TypeError(`not a revision: ${after}`);
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
