import { defined } from "../../domain/defined.ts";
import type { Condition, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";
import { mergedPages } from "./merged-pages.ts";

type Listed = Pick<ViewStore, "page" | "count">;

/**
 * The view as if it had only the documents of some statuses; of all, if none is named. `lead` is the field whose
 * condition the fewest documents match, for a view without an index that has both the account and the status.
 */
export const withStatuses = (
  views: Listed,
  statuses: readonly string[],
  { lead }: { readonly lead?: string } = {},
): Listed => {
  if (statuses.length === 0) return views;
  const lists = statuses.map((status): Condition => ({ field: "status", is: "=", value: status }));
  return {
    page(view, query) {
      const each = lists.map(
        (of) => (asked: Omit<ViewQuery, "where" | "lead">) =>
          views.page(view, { ...asked, where: [...query.where, of], ...defined({ lead }) }),
      );
      return mergedPages(each).page(view, query);
    },
    async count(view, where, atMost) {
      const counts = await Promise.all(lists.map((of) => views.count(view, [...where, of], atMost)));
      return Math.min(
        atMost,
        counts.reduce((sum, it) => sum + it, 0),
      );
    },
  };
};
