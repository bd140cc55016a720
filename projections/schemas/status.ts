import type { StatusCounts, StatusHealth, StatusHour } from "../status.ts";
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
  id: "hour/YYYY-MM-DDTHH, day/YYYY-MM-DD or health/YYYY-MM-DD. A time without events has no document.",
  documents: [
    closed<StatusHour>("An hour.", {
      ...COUNTS,
      latency: histogram("From an event's admission to its delivery, by the hour of the delivery."),
    }),
    closed<StatusCounts>("A day.", COUNTS),
    closed<StatusHealth>("How the service found itself on a day, by looks five minutes apart.", {
      operational: count("Looks that found all parts at work."),
      degraded: count("Looks that found a part that did not work as it should."),
      down: count("Looks that found it down."),
      first: count("Five-minute periods since midnight, of the first look."),
      last: count("The same of the last look. What is missing in between was looked at by nobody."),
    }),
  ],
};
