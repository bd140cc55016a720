import type { FilterValues } from "../../design/filter-values.ts";
import type { call } from "../api/api.ts";
import { filtersOf, momentsOf } from "./ranges.ts";

type BundleQuery = NonNullable<NonNullable<Parameters<typeof call<"GET /v1/bundles">>[1]>["query"]>;

const FILTER_NAMES = ["range", "from", "to", "status", "agent_id", "policy_id", "gate"];

/** The filters that the address sets. */
export const filtersIn = (query: FilterValues) => filtersOf(FILTER_NAMES, query);

/** What the API is asked for. The service checks the values, and its problem names the one that it does not take. */
export const queryOf = (query: FilterValues): BundleQuery => momentsOf(filtersIn(query)) as BundleQuery;
