import { LRUCache } from "lru-cache";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, LoadedDocument, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { hasRecord } from "../following/log-cursor.ts";
import { foldPage, idsOfPage, ProjectionFailed } from "./fold-page.ts";

/** Why a view is folded again: it may belong to another log, or this log lacks the last record that it folded. */
export type DropReason = "unknown-log" | "record-missing";

export type FollowedLog = Pick<EventLog, "identity" | "read">;

export type ViewFollower = {
  readonly view: string;
  position(): Position | null;
  /**
   * Called at the start. Drops a view that may contain records of another log, because positions of two logs cannot be
   * compared, or whose last record this log lacks, as after a restore. Null if the view stays, or was empty.
   */
  claim(): Promise<DropReason | null>;
  /**
   * Reads the position from the store after another process may have moved it. Throws if the view belongs to another
   * log by now.
   */
  refresh(): Promise<void>;
  /**
   * Folds the page that follows the view's position. Throws `ProjectionFailed` after committing all events before the
   * failing one.
   */
  advance(page: readonly RecordedEvent[]): Promise<void>;
};

type Documents = ReadonlyMap<string, LoadedDocument>;

export const viewFollower = (
  log: FollowedLog,
  views: ViewStore,
  projection: Projection,
  documentsMax: number,
): ViewFollower => {
  const view = projection.schema.name;
  // Documents as of `position`. They stay correct whoever commits, because every projector folds the same.
  const recent = new LRUCache<string, { readonly document: Document | null }>({ max: documentsMax });
  let position: Position | null = null;
  /** The last commit was ours and complete, so no document in the store is ahead. */
  let isUndisturbed = false;
  /** The store must be read before the next fold. */
  let isLost = true;

  const distrust = (): void => {
    recent.clear();
    isUndisturbed = false;
  };

  const drop = async (): Promise<void> => {
    isLost = true;
    distrust();
    await views.drop(view, await log.identity());
    position = null;
    isLost = false;
  };

  const refresh = async (): Promise<void> => {
    isLost = true;
    const [kept, origin] = await Promise.all([views.position(view), views.origin(view)]);
    if (origin === null) return drop();
    if (origin.log !== (await log.identity())) throw new Error(`${view} is a view of another log by now`);
    if (kept !== position) distrust();
    position = kept;
    isLost = false;
  };

  const claim = async (): Promise<DropReason | null> => {
    const [kept, origin] = await Promise.all([views.position(view), views.origin(view)]);
    const isOwn = origin?.isEmptied === true && origin.log === (await log.identity());
    // A position without its record's name cannot be verified.
    const isThere = origin?.last == null ? kept === null : await hasRecord(log, origin.last);
    if (isOwn && isThere) {
      await refresh();
      return null;
    }
    await drop();
    if (isOwn) return "record-missing";
    return kept === null && origin === null ? null : "unknown-log";
  };

  const load = async (ids: Iterable<string>): Promise<Documents | "stale"> => {
    const known = new Map<string, LoadedDocument>();
    const missing: string[] = [];
    for (const id of ids) {
      const it = recent.get(id);
      if (it === undefined) missing.push(id);
      else known.set(id, { document: it.document, position: null });
    }
    if (missing.length === 0) return known;
    const found = await views.load(view, position, missing);
    if (found === "stale" || known.size === 0) return found;
    for (const [id, loaded] of found) known.set(id, loaded);
    return known;
  };

  /** Adds the documents that the page puts unasked: another projector may be ahead with them. */
  const withUnasked = async (loaded: Documents, ids: Iterable<string>): Promise<Documents | "stale"> => {
    const unasked = [...ids].filter((id) => !loaded.has(id));
    if (unasked.length === 0) return loaded;
    const found = await views.load(view, position, unasked);
    return found === "stale" ? found : new Map([...loaded, ...found]);
  };

  const stale = async (): Promise<number> => {
    distrust();
    await refresh();
    return 0;
  };

  const remember = (loaded: Documents, changed: ReadonlyMap<string, Document | null>, upTo: Position): void => {
    for (const [id, { document, position: reached }] of loaded) {
      if (reached !== null && reached > upTo) continue;
      const now = changed.get(id);
      recent.set(id, { document: now === undefined ? document : now });
    }
  };

  /**
   * Commits the first events of the page, nearly always all, and returns how many; 0 if another projector was first.
   */
  const commit = async (page: readonly RecordedEvent[]): Promise<number> => {
    const ids = idsOfPage(projection, page);
    const loaded = await load(new Set(ids.flat()));
    if (loaded === "stale") return stale();
    let folded = foldPage(projection, page, ids, loaded);
    if (!isUndisturbed || [...loaded.values()].some((it) => it.position !== null)) {
      const all = await withUnasked(loaded, folded.documents.keys());
      if (all === "stale") return stale();
      folded = foldPage(projection, page.slice(0, folded.events), ids, all);
    }
    const record = page[folded.events - 1];
    if (record === undefined) throw new Error(`${view}: the fold of a page took no event`);
    const { documents, leading } = folded;
    const upTo = record.position;
    if ((await views.commit(view, position, upTo, { documents, leading, record })) === "stale") return stale();
    position = upTo;
    isUndisturbed = true;
    remember(loaded, documents, upTo);
    return folded.events;
  };

  const through = async (page: readonly RecordedEvent[]): Promise<void> => {
    for (let rest = page; rest.length > 0; ) {
      const committed = await commit(rest);
      if (committed === 0) return;
      rest = rest.slice(committed);
    }
  };

  return {
    view,
    position: () => position,
    claim,
    refresh,
    async advance(page) {
      if (isLost) return refresh();
      try {
        await through(page);
      } catch (error) {
        if (error instanceof ProjectionFailed) {
          const { position: failed } = error;
          await through(page.filter((it) => (position === null || it.position > position) && it.position < failed));
        } else {
          // The commit may have happened. The store is asked later, because it has just failed.
          distrust();
          isLost = true;
        }
        throw error;
      }
    },
  };
};
