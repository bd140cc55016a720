import type { StatusCounts, StatusHealth, StatusHour } from "../status.ts";
import { closed, count } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { histogram } from "./words.ts";

const COUNTS = {
  admitted: count("Events admitted."),
  blocked: count("Requests that a policy refused."),
  delivered: count("Events delivered."),
  failed: count("Events whose delivery failed."),
};

export const statusView: PublishedView = {
  view: "status.v1",
  description: "Counts of all accounts together, in UTC: by hour for two days and by day for 90 days.",
  id: "hour/YYYY-MM-DDTHH, day/YYYY-MM-DD or health/YYYY-MM-DD. A time without events has no document.",
  documents: [
    closed<StatusHour>("An hour.", {
      ...COUNTS,
      latency: histogram("From an event's admission to its delivery, by the hour of the delivery."),
    }),
    closed<StatusCounts>("A day.", COUNTS),
    closed<StatusHealth>("The service's health on one day, observed every five minutes.", {
      operational: count("Observations with all parts working."),
      degraded: count("Observations with a degraded part."),
      down: count("Observations of an outage."),
      first: count("The first observation, in five-minute periods since midnight."),
      last: count("The last observation, likewise. No node observed the missing ones in between."),
    }),
  ],
};
