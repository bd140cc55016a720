import type { Appended, RecordedEvent, Revision } from "../../domain/ports.ts";
import { LogUnavailable } from "../log-errors.ts";
import type { ExactAppends } from "./appends.ts";
import type { ProposedEvent } from "./connection.ts";
import type { Limits } from "./limits.ts";
import type { Reads } from "./reads.ts";

/** Each round lost means that another writer won: so many in a row is a stream that should be an actor's. */
const ROUNDS_MAX = 100;
/** How far behind the head it looks for its own events, should others have appended since. */
const LOOK_BEHIND = 16;

/** Where these events stand, one behind the other, among a stream's newest. */
const placeOf = (newest: readonly RecordedEvent[], events: readonly ProposedEvent[]): RecordedEvent | undefined => {
  const ids = events.map(({ id }) => id).reverse();
  const index = newest.findIndex((_, start) => ids.every((id, offset) => newest[start + offset]?.id === id));
  return newest[index];
};

/**
 * Appends at the head of a stream. The server's own "any" knows a repeat only while it remembers the ids, which it
 * does not across a restart: so it is an append at the exact revision of what is read there, again when another was first.
 */
export const anyAppends = (exact: ExactAppends, reads: Reads, limits: Limits) => {
  return async (stream: string, events: readonly ProposedEvent[]): Promise<Appended> => {
    const start = performance.now();
    // Of a stream of which everything is erased nothing can be read: then a conflict tells its head.
    let told: Revision | "absent" = "absent";
    for (let round = 0; round < ROUNDS_MAX && performance.now() - start < limits.appendMs; round += 1) {
      const newest = await reads.newest(stream, events.length + LOOK_BEHIND);
      const place = placeOf(newest, events);
      if (place !== undefined) return { outcome: "appended", revision: place.revision, position: place.position };
      const appended = await exact({ stream, expected: newest[0]?.revision ?? told, events });
      if (appended.outcome === "appended") return appended;
      told = appended.actual;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };
};
