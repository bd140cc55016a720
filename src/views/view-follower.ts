import { LRUCache } from "lru-cache";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, Loaded, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { hasRecord } from "../following/place.ts";
import { foldPage, idsOfPage, ProjectionFailed } from "./fold-page.ts";

/** Why a view is folded anew: it may be of another log or not emptied, or this log lacks the last record that it folded. */
export type DropReason = "unknown-log" | "record-missing";

export type FollowedLog = Pick<EventLog, "identity" | "read">;

/** One view on its way through the log. */
export type ViewFollower = {
  readonly view: string;
  position(): Position | null;
  /**
   * At the start: drops a view that is not known to be folded from this log alone, as positions of two logs say nothing of
   * each other, and one whose last record this log lacks, as after the log was restored from an older copy. Resolves with
   * the reason; null if the view stays, or had nothing in it.
   */
  claim(): Promise<DropReason | null>;
  /**
   * Takes the position from the store, whenever someone else may have moved it. Throws when the view is of another log
   * by now: somebody who follows that one has started since.
   */
  refresh(): Promise<void>;
  /**
   * Takes the view from its position over the page that follows it. Throws `ProjectionFailed` with everything before
   * the failing event committed, and the store's errors with nothing changed that is not known to be.
   */
  advance(page: readonly RecordedEvent[]): Promise<void>;
};

type Documents = ReadonlyMap<string, Loaded>;

export const viewFollower = (
  log: FollowedLog,
  views: ViewStore,
  projection: Projection,
  documentsMax: number,
): ViewFollower => {
  const view = projection.schema.name;
  // As folded up to `position`, which stays right whatever others commit: the fold gives everyone the same.
  const recent = new LRUCache<string, { readonly document: Document | null }>({ max: documentsMax });
  let position: Position | null = null;
  /** The last commit was ours and complete: nothing that is in the store is folded further, as far as is known. */
  let isUndisturbed = false;
  /** What is known of the store cannot be relied on: it is asked before anything else is done. */
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
    // As when the database was dropped.
    if (origin === null) return drop();
    if (origin.log !== (await log.identity())) throw new Error(`${view} is a view of another log by now`);
    if (kept !== position) distrust();
    position = kept;
    isLost = false;
  };

  const claim = async (): Promise<DropReason | null> => {
    const [kept, origin] = await Promise.all([views.position(view), views.origin(view)]);
    const isOwn = origin?.isEmptied === true && origin.log === (await log.identity());
    // A position without the name of its record cannot be recognised.
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
    const known = new Map<string, Loaded>();
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

  /** With those that the page puts unasked: what somebody has folded further than this page must not be overwritten. */
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

  /** Commits the page's first events, all of them but in rare cases, and returns how many; 0 when somebody else did. */
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
    // What was put without being asked for is not asked for later either.
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
          // Whether the commit came about is not known. Not asked at once: whatever failed has some time to come back.
          distrust();
          isLost = true;
        }
        throw error;
      }
    },
  };
};
