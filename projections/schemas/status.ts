import type { StatusCounts, StatusHour } from "../status.ts";
import { closed, count } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { histogram } from "./words.ts";

const COUNTS = {
  admitted: count("Events admitted."),
  blocked: count("Requests that a policy refused."),
  delivered: count("Events delivered."),
  failed: count("Events whose delivery was given up."),
};

export const statusView: PublishedView = {
  view: "status.v1",
  description:
    "What all accounts together did, in UTC: two days by the hour and 90 days by the day, older ones removed.",
  id: "hour/YYYY-MM-DDTHH or day/YYYY-MM-DD. A time without events has no document.",
  documents: [
    closed<StatusHour>("An hour.", {
      ...COUNTS,
      latency: histogram("From an event's admission to its delivery, by the hour of the delivery."),
    }),
    closed<StatusCounts>("A day.", COUNTS),
  ],
};
