import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type AuditDocument, audit, recordId } from "../../projections/audit.ts";

export type AuditFilter = {
  readonly account: string;
  /** `from` (inclusive) and `to` (exclusive) are ISO-8601 UTC with milliseconds; null for no bound. */
  readonly from: string | null;
  readonly to: string | null;
  readonly type?: string;
  readonly actor?: string;
  readonly subject?: string;
  readonly stream?: string;
  readonly order: "asc" | "desc";
  readonly after: number | null;
};

export type AuditSources = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: Pick<EventLog, "read" | "last">;
};

/** Indexes of the account's records: `low` is inclusive, `high` exclusive. */
export type Bounds = { readonly low: number; readonly high: number };

/** Resolves with the next records within the bounds, in the order of the filter; empty at the end. */
export type Walk = (bounds: Bounds) => Promise<readonly AuditDocument[]>;

export const recordOf = (document: unknown): AuditDocument => document as AuditDocument; // The view has what its projection writes.

export const recordAt = async (views: Pick<ViewStore, "get">, account: string, index: number): Promise<AuditDocument> =>
  recordOf(await views.get(audit.schema.name, recordId(account, index)));

export const eventOf = async (
  log: Pick<EventLog, "read">,
  { stream, revision }: Pick<AuditDocument, "stream" | "revision">,
): Promise<RecordedEvent> => {
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  // The records that are audited are never erased, so a missing one means a damaged log.
  if (event?.revision !== revision) throw new Error(`the log has no ${stream} at ${revision}`);
  return event;
};

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

/** The records at these indexes, which the view has. */
export const eventsAt = async (
  { views, log }: { readonly views: Pick<ViewStore, "getMany">; readonly log: Pick<EventLog, "read"> },
  account: string,
  indexes: readonly number[],
): Promise<readonly RecordedEvent[]> => {
  const ids = indexes.map((index) => recordId(account, index));
  const found = await views.getMany(audit.schema.name, ids);
  return Promise.all(
    ids.map((id) => {
      const document = found.get(id);
      if (document === undefined) throw new Error(`the view has no record ${id}`);
      return eventOf(log, recordOf(document));
    }),
  );
};

type IsReached = (index: number) => Promise<boolean>;

/** Binary search for the first index for which `isReached` holds; it has to hold for every later index too. */
export const firstIndex = async ({ low, high }: Bounds, isReached: IsReached): Promise<number> => {
  if (low >= high) return low;
  const middle = Math.floor((low + high) / 2);
  return firstIndex((await isReached(middle)) ? { low, high: middle } : { low: middle + 1, high }, isReached);
};

const STRIDE = 8;

/** Finds the same index as `firstIndex`, with fewer reads if it is near the given end of the bounds. */
export const firstIndexNear = async (bounds: Bounds, end: keyof Bounds, isReached: IsReached): Promise<number> => {
  let { low, high } = bounds;
  for (let width = STRIDE; width < high - low; width *= STRIDE) {
    const probe = end === "low" ? low + width : high - width;
    const reached = await isReached(probe);
    if (reached) high = probe;
    else low = probe + 1;
    if (reached === (end === "low")) break;
  }
  return firstIndex({ low, high }, isReached);
};
