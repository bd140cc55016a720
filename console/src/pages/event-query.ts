import type { FilterValues } from "../../design/filter-values.ts";
import type { call } from "../api/api.ts";
import { WITHOUT_NOTIFICATIONS } from "./event-origins.ts";
import { filtersOf, momentsOf } from "./ranges.ts";

type EventQuery = NonNullable<NonNullable<Parameters<typeof call<"GET /v1/events">>[1]>["query"]>;

/** The states that have a view of their own, with how many there are. */
export const COUNTED = ["held", "blocked", "retrying", "failed"];
/** One event is the least that a list gives; only the counts are shown. */
export const COUNTS_QUERY: EventQuery = {
  origin: WITHOUT_NOTIFICATIONS,
  counts: COUNTED.join(","),
  limit: 1,
};

export const FILTER_NAMES = [
  ...["status", "origin", "endpoint_id", "source_id", "agent_id", "policy_id", "action", "run", "gate", "replay"],
  ...["range", "from", "to", "q"],
];

/** What the API is asked for. The service checks the values, and its problem names the one that it does not take. */
export const queryOf = (query: FilterValues): EventQuery =>
  ({
    origin: WITHOUT_NOTIFICATIONS,
    ...momentsOf(filtersOf(FILTER_NAMES, query)),
    limit: 50,
    total: "true",
  }) as EventQuery;
