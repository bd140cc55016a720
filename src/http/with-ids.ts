import type { Condition, Document, FoundDocument, ViewStore } from "../../domain/ports/view-store.ts";
import { newestFirst } from "./merged-pages.ts";
import type { JsonSchema } from "./route.ts";

/** Documents that a list can be asked for by their ids: as many as a page has. */
const IDS_MAX = 100;

/** The schema of a parameter that takes ids with this prefix; `valuesOf` reads them. */
export const idsOf = (prefix: string) =>
  ({
    type: "string",
    pattern: `^${prefix}\\w{1,64}(,${prefix}\\w{1,64}){0,${IDS_MAX - 1}}$`,
    description: `Only these, up to ${IDS_MAX}, separated by commas; ids that the account does not have are left out`,
  }) as const satisfies JsonSchema;

const HOLDS: Readonly<Record<Condition["is"], (a: string | number, b: string | number) => boolean>> = {
  "=": (a, b) => a === b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

export const satisfies = (document: Document, where: readonly Condition[]): boolean =>
  where.every(({ field, is, value }) => {
    const kept = document[field];
    return (typeof kept === "string" || typeof kept === "number") && HOLDS[is](kept, value);
  });

/** The view as if it had only the documents with these ids. A page of it has the newest ones first. */
export const withIds = (
  views: Pick<ViewStore, "getMany">,
  ids: readonly string[],
): Pick<ViewStore, "page" | "count"> => {
  const found = async (view: string, where: readonly Condition[]): Promise<readonly FoundDocument[]> => {
    const documents = await views.getMany(view, ids);
    return [...documents].map(([id, document]) => ({ id, document })).filter((it) => satisfies(it.document, where));
  };
  return {
    async page(view, { where, sort, after, limit }) {
      const compared = newestFirst(sort.field);
      const last = after === undefined ? null : { id: after.id, document: { [sort.field]: after.value } };
      const page = (await found(view, where)).filter((it) => last === null || compared(last, it) < 0);
      return [...page].sort(compared).slice(0, limit);
    },
    count: async (view, where, atMost) => Math.min(atMost, (await found(view, where)).length),
  };
};
