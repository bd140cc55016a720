import type { FilterValues } from "../../design/filter-values.ts";
import { firstMoment } from "./ranges.ts";

const LISTS = ["me", "all", "decided", "any"] as const;
/** Those that wait for this member, or for anybody; those that this member decided; or all there ever were. */
export type Wanted = (typeof LISTS)[number];

export const wantedIn = (query: FilterValues): Wanted => LISTS.find((it) => it === query.for) ?? "me";

const FILTER_NAMES = ["status", "range", "from", "to"];

/** The filters in the address. Only the history has some: the other lists are short. */
export const filtersIn = (query: FilterValues): FilterValues =>
  Object.fromEntries(
    FILTER_NAMES.flatMap((name) => (query.for === "any" && query[name] ? [[name, query[name]] as const] : [])),
  );

/** What the API is asked for; `range` is relative and stays so in the address. */
export const queueQuery = (query: FilterValues) => {
  const wanted = wantedIn(query);
  if (wanted !== "any") return { for: wanted, titles: "true" } as const;
  const { status, range, from, to } = filtersIn(query);
  const asked = { status, from: firstMoment({ range, from }), to };
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  return { ...given, total: "true", titles: "true" } as const;
};
