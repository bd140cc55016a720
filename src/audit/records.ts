import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type AuditDocument, audit, recordId } from "../../projections/audit.ts";

export type AuditFilter = {
  readonly account: string;
  /** ISO-8601 UTC with milliseconds; `to` is not part of the range. */
  readonly from: string | null;
  readonly to: string | null;
  readonly type?: string;
  readonly actor?: string;
  readonly subject?: string;
  /** A stream's whole name, or the bare id of what it is about. */
  readonly stream?: string;
  readonly order: "asc" | "desc";
  /** The index of the last record seen. */
  readonly after: number | null;
};

export type AuditSources = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: Pick<EventLog, "read" | "last">;
};

/** The first index, and the one behind the last. */
export type Bounds = { readonly low: number; readonly high: number };

/** The next records within the bounds, in the filter's order; none: there are no more. */
export type Walk = (bounds: Bounds) => Promise<readonly AuditDocument[]>;

// The view's documents are what its projection writes.
export const recordOf = (document: unknown): AuditDocument => document as AuditDocument;

/** The record at an index, which has to be below the head's count. */
export const recordAt = async (views: Pick<ViewStore, "get">, account: string, index: number): Promise<AuditDocument> =>
  recordOf(await views.get(audit.schema.name, recordId(account, index)));

/** What a record says: the event itself. */
export const eventOf = async (
  log: Pick<EventLog, "read">,
  { stream, revision }: Pick<AuditDocument, "stream" | "revision">,
): Promise<RecordedEvent> => {
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  // Only payload streams are ever erased, and they are no records: without its event a record is a broken log.
  if (event?.revision !== revision) throw new Error(`the log has no ${stream} at ${revision}`);
  return event;
};

/** An account's records from an index on, at most `limit`; fewer where the view is not as far yet. */
export const eventsFrom = async (
  { views, log }: { readonly views: Pick<ViewStore, "getMany">; readonly log: Pick<EventLog, "read"> },
  account: string,
  index: number,
  limit: number,
): Promise<readonly RecordedEvent[]> => {
  const ids = Array.from({ length: limit }, (_, i) => recordId(account, index + i));
  const found = await views.getMany(audit.schema.name, ids);
  const missing = ids.findIndex((id) => !found.has(id));
  const known = missing === -1 ? ids : ids.slice(0, missing);
  return Promise.all(known.map((id) => eventOf(log, recordOf(found.get(id)))));
};

/** Halves its way to the first record within the bounds that `reached` holds for, as for all behind it. */
export const firstRecord = async (
  views: Pick<ViewStore, "get">,
  account: string,
  bounds: Bounds,
  reached: (record: AuditDocument) => boolean,
): Promise<number> => {
  let { low, high } = bounds;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (reached(await recordAt(views, account, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** How much farther each next probe is. */
const STRIDE = 8;

/** As `firstRecord`, and quick when that is near the end which the search begins at: as the next of one stream is. */
export const firstRecordNear = async (
  views: Pick<ViewStore, "get">,
  account: string,
  bounds: Bounds,
  end: keyof Bounds,
  reached: (record: AuditDocument) => boolean,
): Promise<number> => {
  let { low, high } = bounds;
  for (let width = STRIDE; width < high - low; width *= STRIDE) {
    const probe = end === "low" ? low + width : high - width;
    const isReached = reached(await recordAt(views, account, probe));
    if (isReached) high = probe;
    else low = probe + 1;
    // On the other side of what is looked for: it is between the last probe and this one.
    if (isReached === (end === "low")) break;
  }
  return firstRecord(views, account, { low, high }, reached);
};
