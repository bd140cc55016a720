import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Condition, Found, ViewStore } from "../../domain/ports/view-store.ts";
import type { Reaction } from "../following/reaction.ts";
import type { ViewProgress } from "./view-progress.ts";

export type Reaching = {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

export type AllShown = {
  readonly view: string;
  /** The field that says how new a document is. */
  readonly newest: string;
  /** The searches, one after the other, for the documents that the record concerns; empty for none. */
  readonly searches: (cause: RecordedEvent) => readonly (readonly Condition[])[];
  /** Done for each of them; the same again is harmless. */
  readonly reach: (cause: RecordedEvent, id: string) => Promise<void>;
};

/** What a view under rebuild does not list yet is reached later: nothing wrong is sent meanwhile. */
const VIEW_WAIT_MS = 2_000;
/** They are reached together, and share appends: one by one, thousands would take many seconds. */
const PAGE = 100;

/** The ids of the documents, in pages, each search from the newest on. */
async function* pagesOf(
  { views }: Pick<Reaching, "views">,
  { view, newest }: Pick<AllShown, "view" | "newest">,
  searches: readonly (readonly Condition[])[],
): AsyncGenerator<readonly string[]> {
  for (const where of searches) {
    const sort = { field: newest, order: "desc" } as const;
    let last: Found | undefined;
    do {
      const after = last === undefined ? {} : { after: { value: String(last.document[newest]), id: last.id } };
      const page = await views.page(view, { where, sort, limit: PAGE, ...after });
      yield page.map(({ id }) => id);
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined);
  }
}

/**
 * Does something for all that a view shows. While the view is behind, it is done once for what the view lists: the reactor
 * repeats the reaction until the view lists everything, and reacts to other records meanwhile.
 */
export const reachingAllShown = (deps: Reaching, shown: AllShown): Reaction["run"] => {
  /** The ids of the records for which only a part was listed: at most a page of the reactor's. */
  const reachedInPart = new Set<string>();

  return async (cause, isStopping = () => false) => {
    const { view } = shown;
    const searches = shown.searches(cause);
    if (searches.length === 0) return;
    const isWhole = await deps.progress.waitFor([view], cause.position, VIEW_WAIT_MS);
    const notYet = {
      waitsFor: `the view ${view} to reach ${cause.position}: until then ${cause.type} has reached only what it shows`,
    };
    if (!isWhole && reachedInPart.has(cause.id)) return notYet;
    for await (const page of pagesOf(deps, shown, searches)) {
      // Of tens of thousands the time to stop would not be enough: the rest is reached by the process that starts next.
      if (isStopping()) return;
      await Promise.all(page.map((id) => shown.reach(cause, id)));
    }
    reachedInPart.delete(cause.id);
    if (isWhole) return;
    reachedInPart.add(cause.id);
    return notYet;
  };
};
