import { randomUUID } from "node:crypto";
import type { Revision } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../log-errors.ts";
import { BLANK_TYPE } from "../stream-name.ts";
import type { ExactAppends } from "./appends.ts";
import type { Reading } from "./attempts.ts";
import type { ProposedEvent } from "./connection.ts";
import type { Pages } from "./pages.ts";
import { positionOf } from "./positions.ts";
import { erasedUpTo, isErased, metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

const ROUNDS_MAX = 16;

const blank = (): ProposedEvent => ({
  id: randomUUID(),
  type: BLANK_TYPE,
  data: new TextEncoder().encode("{}"),
  meta: null,
});

/**
 * Erased events are hidden by the stream's metadata until a scavenge removes them, so an append that expects "absent"
 * still conflicts. A blank event is appended first, because a scavenge keeps a stream's last event.
 */
export const erasures = (exact: ExactAppends, pages: Pages, reading: Reading) => {
  return async (stream: string, most: Revision): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      // An interrupted erasure may have left a blank event at the end, so two events are read.
      const [last, before] = await reading((idleMs) => pages.newest(stream, 2, idleMs));
      if (last === undefined) return;
      const isBlank = last.type === BLANK_TYPE;
      const isPart = last.revision - (isBlank ? 1 : 0) > most;
      if (!isBlank && !isPart) {
        const put = await exact({ stream, expected: last.revision, events: [blank()] });
        if (put.outcome === "conflict") continue;
      }
      const end = isBlank ? last.revision : last.revision + 1;
      const upTo = isPart ? most : end;
      const [atMost] = isPart ? await reading((idleMs) => pages.stream(stream, most, 1, idleMs)) : [];
      const { revision, fields } = await reading((idleMs) => readMetadata(pages, stream, idleMs));
      if (isErased(fields, upTo)) return;
      const newest = atMost ?? (last.meta === null ? (before ?? last) : last);
      const erased = { revision: newest.revision, position: positionOf(newest.at) };
      const event = metadataEvent(randomUUID(), erasedUpTo(fields, upTo, erased));
      const expected = revision ?? "absent";
      const written = await exact({ stream: metastreamOf(stream), expected, events: [event] });
      if (written.outcome === "appended") return;
    }
    throw new LogUnavailable(`${stream} is written by too many at once`);
  };
};
