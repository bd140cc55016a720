import { randomUUID } from "node:crypto";
import { LogUnavailable } from "../log-errors.ts";
import { BLANK_TYPE } from "../stream-name.ts";
import type { ExactAppends } from "./appends.ts";
import type { Reading } from "./attempts.ts";
import type { ProposedEvent } from "./connection.ts";
import type { Pages } from "./pages.ts";
import { positionOf } from "./positions.ts";
import { erasedUpTo, metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

/** Others that write to the same stream or its metadata at the same time: an operator, or another node that erases. */
const ROUNDS_MAX = 16;

/** Without metadata, as no event of a log is: nobody is ever shown it. */
const blank = (): ProposedEvent => ({
  id: randomUUID(),
  type: BLANK_TYPE,
  data: new TextEncoder().encode("{}"),
  meta: null,
});

/**
 * Hides all events that a stream has: by its metadata, so that its numbering goes on and "absent" stays a conflict. What is
 * hidden is gone from the disk when the server has scavenged, but for the stream's last event, which it always keeps: so
 * a blank one is put behind what is to go.
 */
export const erasures = (exact: ExactAppends, pages: Pages, reading: Reading) => {
  return async (stream: string): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      // Two: the last may be the blank of an erasure that got no further.
      const [last, before] = await reading((idleMs) => pages.newest(stream, 2, idleMs));
      if (last === undefined) return;
      const isBlank = last.type === BLANK_TYPE;
      if (!isBlank) {
        const put = await exact({ stream, expected: last.revision, events: [blank()] });
        if (put.outcome === "conflict") continue;
      }
      const upTo = isBlank ? last.revision : last.revision + 1;
      const newest = last.meta === null ? (before ?? last) : last;
      const { revision, fields } = await reading((idleMs) => readMetadata(pages, stream, idleMs));
      const erased = { revision: newest.revision, position: positionOf(newest.at) };
      const event = metadataEvent(randomUUID(), erasedUpTo(fields, upTo, erased));
      const expected = revision ?? "absent";
      const written = await exact({ stream: metastreamOf(stream), expected, events: [event] });
      if (written.outcome === "appended") return;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };
};
