import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Condition, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import type { Reaction } from "../following/reaction.ts";
import { pagesIn } from "./typed-documents.ts";
import type { ViewProgress } from "./view-progress.ts";

export type ForEachListedDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

export type ListedDocuments = {
  readonly view: Projection<object>;
  readonly newest: string;
  readonly searches: (cause: RecordedEvent) => readonly (readonly Condition[])[];
  readonly reach: (cause: RecordedEvent, id: string) => Promise<void>;
};

/** The reaction waits so long for the view, then reaches what it lists; a repeat of the reaction reaches the rest. */
const VIEW_WAIT_MS = 2_000;
const PAGE = 100;

/** While the view lags, the documents listed so far are reached once, and `NotYet` makes the reactor try again. */
export const forEachListed = (deps: ForEachListedDeps, shown: ListedDocuments): Reaction["run"] => {
  const reachedInPart = new Set<string>();

  return async (cause, isStopping = () => false) => {
    const { view } = shown;
    const { name } = view.schema;
    const searches = shown.searches(cause);
    if (searches.length === 0) return;
    const isWhole = await deps.progress.waitFor([name], cause.position, VIEW_WAIT_MS);
    const notYet = {
      waitsFor: `the view ${name} to reach ${cause.position}: until then ${cause.type} has reached only what it shows`,
    };
    if (!isWhole && reachedInPart.has(cause.id)) return notYet;
    const sort = { field: shown.newest, order: "desc" } as const;
    for (const where of searches) {
      for await (const page of pagesIn(deps.views, view, { where, sort, limit: PAGE })) {
        if (isStopping()) return;
        await Promise.all(page.map(({ id }) => shown.reach(cause, id)));
      }
    }
    reachedInPart.delete(cause.id);
    if (isWhole) return;
    reachedInPart.add(cause.id);
    return notYet;
  };
};
