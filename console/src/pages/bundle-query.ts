import type { FilterValues } from "../../design/filter-values.ts";
import type { call } from "../api/api.ts";
import { firstMoment } from "./ranges.ts";

type BundleQuery = NonNullable<NonNullable<Parameters<typeof call<"GET /v1/bundles">>[1]>["query"]>;

const FILTER_NAMES = ["range", "from", "to", "status", "agent_id", "policy_id", "gate"];

/** The filters that the address sets. */
export const filtersIn = (query: FilterValues): FilterValues =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** What the API is asked for; `range` is relative and stays so in the address. */
export const queryOf = (query: FilterValues): BundleQuery => {
  const { range, from, ...rest } = filtersIn(query);
  const start = firstMoment({ range, from });
  // The service checks the values, and its problem names the one that it does not take.
  return { ...rest, ...(start === undefined ? {} : { from: start }) } as BundleQuery;
};
