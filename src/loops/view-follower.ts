import type { Document, Position, RecordedEvent, ViewStore } from "../../domain/ports.ts";
import type { Projection } from "../../projections/projection.ts";
import { type Changes, foldPage, idsOfPage, ProjectionFailed } from "./fold-page.ts";
import { recentDocuments } from "./recent-documents.ts";

/** One view on its way through the log. */
export type ViewFollower = {
  readonly view: string;
  position(): Position | null;
  /** Takes the position from the store, as at the start and whenever someone else may have moved it. */
  refresh(): Promise<void>;
  /**
   * Takes the view from its position over the page that follows it. Throws `ProjectionFailed` with everything before
   * the failing event committed, and the store's errors with nothing changed that is not known to be.
   */
  advance(page: readonly RecordedEvent[]): Promise<void>;
};

export const viewFollower = (views: ViewStore, projection: Projection, documentsMax: number): ViewFollower => {
  const view = projection.schema.name;
  // Right only as long as nobody else commits; the store compares the position, and says "stale" if somebody did.
  const recent = recentDocuments(documentsMax);
  let position: Position | null = null;

  const refresh = async (): Promise<void> => {
    const kept = await views.position(view);
    if (kept !== position) recent.clear();
    position = kept;
  };

  const load = async (ids: Iterable<string>): Promise<Changes> => {
    const loaded = new Map<string, Document | null>();
    const missing: string[] = [];
    for (const id of ids) {
      const document = recent.get(id);
      if (document === undefined) missing.push(id);
      else loaded.set(id, document);
    }
    if (missing.length === 0) return loaded;
    const found = await views.getMany(view, missing);
    for (const id of missing) loaded.set(id, found.get(id) ?? null);
    return loaded;
  };

  const commit = async (page: readonly RecordedEvent[]): Promise<void> => {
    const upTo = page.at(-1)?.position;
    if (upTo === undefined) return;
    const ids = idsOfPage(projection, page);
    const loaded = await load(new Set(ids.flat()));
    const changed = foldPage(projection, page, ids, loaded);
    if ((await views.commit(view, position, upTo, changed)) === "stale") {
      recent.clear();
      await refresh();
      return;
    }
    position = upTo;
    // What was put without being asked for is not asked for later either.
    for (const [id, document] of loaded) {
      const now = changed.get(id);
      recent.set(id, now === undefined ? document : now);
    }
  };

  return {
    view,
    position: () => position,
    refresh,
    async advance(page) {
      try {
        await commit(page);
      } catch (error) {
        if (!(error instanceof ProjectionFailed)) {
          // Whether the commit came about is not known: the store is asked before anything else is done.
          recent.clear();
          await refresh().catch(() => undefined);
        } else if (error.index > 0) await commit(page.slice(0, error.index));
        throw error;
      }
    },
  };
};
