import type { JsonObject } from "../../domain/json.ts";
import type { Position, Revision } from "../../domain/ports/event-log.ts";
import type { Reading } from "./attempts.ts";
import { ConnectionFailure, type ProposedEvent } from "./connection.ts";
import type { Pages } from "./pages.ts";

/** Metadata are a stream: developers.eventstore.com/server/v23.10/streams.html#metadata-and-reserved-names */
export const metastreamOf = (stream: string): string => `$$${stream}`;
const METADATA_TYPE = "$metadata";
const TRUNCATE_BEFORE = "$tb";
/** Revision and position of the newest erased event: the server forgets them, and a late repeat's answer has them. */
const ERASED = "countersign_erased";

export type StreamMetadata = {
  readonly revision: Revision | null;
  readonly writtenMs: number | null;
  readonly fields: JsonObject;
};

export type LastErased = { readonly revision: Revision; readonly position: Position };

export const metadataEvent = (id: string, fields: JsonObject): ProposedEvent => ({
  id,
  type: METADATA_TYPE,
  data: new TextEncoder().encode(JSON.stringify(fields)),
  meta: null,
});

export const readMetadata = async (pages: Pages, stream: string, idleMs: number): Promise<StreamMetadata> => {
  const [last] = await pages.newest(metastreamOf(stream), 1, idleMs);
  return { revision: last?.revision ?? null, writtenMs: last?.writtenMs ?? null, fields: last?.data ?? {} };
};

export const truncatedBefore = (pages: Pages, reading: Reading, stream: string): Promise<number> =>
  reading(async (idleMs) => {
    try {
      const { fields } = await readMetadata(pages, stream, idleMs);
      return Number(fields[TRUNCATE_BEFORE] ?? 0);
    } catch (error) {
      if (error instanceof ConnectionFailure && error.reason === "deleted") return Number.POSITIVE_INFINITY;
      throw error;
    }
  });

export const erasedUpTo = (fields: JsonObject, upTo: Revision, { revision, position }: LastErased): JsonObject => ({
  ...fields,
  [TRUNCATE_BEFORE]: upTo + 1,
  [ERASED]: { revision, position },
});

export const isErased = (fields: JsonObject, upTo: Revision): boolean => Number(fields[TRUNCATE_BEFORE] ?? 0) > upTo;

export const erasedIn = ({ fields }: StreamMetadata): LastErased | null => {
  const erased = fields[ERASED];
  if (typeof erased !== "object" || erased === null || !("position" in erased)) return null;
  const { revision, position } = erased;
  return typeof revision === "number" && typeof position === "string" ? { revision, position } : null;
};
