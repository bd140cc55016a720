import type { FilterValues } from "../../design/filter-values.ts";
import type { call } from "../api/api.ts";
import { WITHOUT_NOTIFICATIONS } from "./event-origins.ts";
import { firstMoment } from "./ranges.ts";

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

/** What the API is asked for; `range` is relative and stays so in the address. */
export const queryOf = (query: FilterValues): EventQuery => {
  const { range, from, ...rest } = Object.fromEntries(
    FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]] as [string, string]] : [])),
  );
  const start = firstMoment({ range, from });
  // The service checks the values, and its problem names the one that it does not take.
  const origin = rest.origin ?? WITHOUT_NOTIFICATIONS;
  return { ...rest, origin, ...(start === undefined ? {} : { from: start }), limit: 50, total: "true" } as EventQuery;
};
