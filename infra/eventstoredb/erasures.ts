import { randomUUID } from "node:crypto";
import { LogUnavailable } from "../log-errors.ts";
import type { ExactAppends } from "./appends.ts";
import type { Reading } from "./attempts.ts";
import type { Pages } from "./pages.ts";
import type { Reads } from "./reads.ts";
import { erasedUpTo, metadataEvent, metastreamOf, readMetadata } from "./stream-metadata.ts";

/** Others that change the same stream's metadata at the same time: an operator, or another node that erases. */
const ROUNDS_MAX = 16;

/**
 * Hides all events that a stream has: by its metadata, so that its numbering goes on and "absent" stays a conflict. What is
 * hidden is gone from the disk when the server has scavenged, but for the stream's last event, which it always keeps.
 */
export const erasures = (exact: ExactAppends, pages: Pages, reads: Reads, reading: Reading) => {
  return async (stream: string): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const [last] = await reads.newest(stream, 1);
      if (last === undefined) return;
      const { revision, fields } = await reading((idleMs) => readMetadata(pages, stream, idleMs));
      const event = metadataEvent(randomUUID(), erasedUpTo(fields, last));
      const expected = revision ?? "absent";
      const written = await exact({ stream: metastreamOf(stream), expected, events: [event] });
      if (written.outcome === "appended") return;
    }
    throw new LogUnavailable(`the metadata of ${stream} are written by too many at once`);
  };
};
