import type { ReplayFilter } from "../../domain/replay/events.ts";
import type { ReplayDocument } from "../replays.ts";
import { REPLAYER } from "./events.ts";
import { closed, count, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const STATUSES: readonly ReplayDocument["status"][] = ["running", "done", "cancelled"];
const CHOSEN: readonly ReplayFilter["status"][] = ["failed", "blocked"];

const FILTER = closed<ReplayFilter>("Which events: those to which all of it applies.", {
  status: oneOf(CHOSEN, "How they had ended."),
  source_id: optional(text("Whose they were, src_…. Missing: of any.")),
  endpoint_id: optional(text("Where they went, end_…. Missing: anywhere.")),
  from: optional(time("Received at this time or later. Missing: at any time.")),
  to: optional(time("Received before this time. Missing: at any time.")),
});

const CANCELLED = closed<NonNullable<ReplayDocument["cancelled"]>>("Who stopped it.", {
  by: REPLAYER,
  reason: orNull(text("Why."), "nobody said."),
});

export const replaysView: PublishedView = {
  view: "replays.v1",
  description: "Replays of many events at once, and what became of them. A replay of one event is in events.v2 alone.",
  id: "The replay's id, rpl_….",
  documents: [
    closed<ReplayDocument>("A replay.", {
      account: ACCOUNT,
      status: oneOf(STATUSES, "How it stands. done: each event was dealt with; some may still be on their way."),
      filter: FILTER,
      total: count("Events that the filter chose when it began."),
      replayed: count("Sent again, or decided again if they were blocked."),
      delivered: count("Of those: delivered."),
      failed: count("Of those: failed, refused, rejected or cancelled once more."),
      skipped: count("Could not be replayed, or had come to something else before their turn."),
      rate_per_second: count("How many a second at most."),
      by: REPLAYER,
      reason: orNull(text("Why."), "nobody said."),
      started_at: time("When it was asked for."),
      ended_at: orNull(time("When all had been dealt with, or it was cancelled."), "it runs."),
      cancelled: orNull(CANCELLED, "it was not cancelled."),
    }),
  ],
};
