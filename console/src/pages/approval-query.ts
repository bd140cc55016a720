import type { FilterValues } from "../../design/filter-values.ts";
import { filtersOf, momentsOf } from "./ranges.ts";

const LISTS = ["me", "all", "decided", "any"] as const;
/** Those that wait for this member, or for anybody; those that this member decided; or all there ever were. */
export type Wanted = (typeof LISTS)[number];

const FILTER_NAMES = ["status", "range", "from", "to"];

/** A filter without a list is one of the history. */
export const wantedIn = (query: FilterValues): Wanted => {
  const isFiltered = FILTER_NAMES.some((name) => query[name]);
  return LISTS.find((it) => it === query.for) ?? (isFiltered && query.for === undefined ? "any" : "me");
};

/** The filters in the address. Only the history has some: the other lists are short. */
export const filtersIn = (query: FilterValues) => filtersOf(FILTER_NAMES, query);

/** What waits and expires first is to be decided first. */
export const isByExpiry = (wanted: Wanted): boolean => wanted === "me" || wanted === "all";
const orderOf = (wanted: Wanted) => (isByExpiry(wanted) ? "expiry" : undefined);

/** What the API is asked for. */
export const queueQuery = (query: FilterValues) => {
  const wanted = wantedIn(query);
  if (wanted !== "any") return { for: wanted, order: orderOf(wanted), titles: "true" } as const;
  return { ...momentsOf(filtersIn(query)), total: "true", titles: "true" } as const;
};
