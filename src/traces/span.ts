import { hash } from "node:crypto";

const SPAN_ID_LENGTH = 16;

/**
 * The same span has the same id, whoever makes it and however often: a trace is made from the log again and again, and
 * a receiver is told the id of the attempt before anybody has seen its end.
 */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash("sha256", names.join("/")).slice(0, SPAN_ID_LENGTH);

/** The id that the receiver of an attempt is told in `traceparent`. */
export const attemptSpanId = (eventId: string, number: number): string => spanIdOf(eventId, "attempt", number);
