import type { ReplayFilter } from "../../domain/replay/events.ts";
import type { SkipCount } from "../../domain/replay/skips.ts";
import { SKIP_REASONS } from "../replay-skips.ts";
import type { ReplayDocument } from "../replays.ts";
import { REPLAYER } from "./events.ts";
import { closed, count, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, words } from "./words.ts";

const STATUSES: readonly ReplayDocument["status"][] = ["running", "done", "cancelled"];
const CHOSEN: readonly ReplayFilter["status"][] = ["failed", "blocked"];

const FILTER = closed<ReplayFilter>("Selects the events that meet all conditions.", {
  status: oneOf(CHOSEN, "How the events had ended."),
  source_id: optional(text("Only this source's events, src_…. Missing: any source.")),
  endpoint_id: optional(text("Only events for this endpoint, end_…. Missing: any endpoint.")),
  from: optional(time("Received at or after this time.")),
  to: optional(time("Received before this time.")),
});

const SKIPS = closed<SkipCount>("Events that were passed over.", {
  reason: oneOf(SKIP_REASONS, "changed: they had ended otherwise, or were gone, before their turn."),
  count: count("How many."),
});

const CANCELLED = closed<NonNullable<ReplayDocument["cancelled"]>>("The cancellation.", {
  by: REPLAYER,
  reason: orNull(words("The reason."), "none was given."),
});

export const replaysView: PublishedView = {
  view: "replays.v1",
  description: "Bulk replays and their progress. A replay of one event is only in events.v3.",
  id: "The replay's id, rpl_….",
  documents: [
    closed<ReplayDocument>("A replay.", {
      account: ACCOUNT,
      status: oneOf(STATUSES, "done: every event was processed; some deliveries may still be under way."),
      filter: FILTER,
      total: count("Events that the filter selected at the start."),
      replayed: count("Events that were sent again or, if blocked, decided again."),
      delivered: count("Replayed events that were delivered."),
      failed: count("Replayed events that failed or were refused, rejected or cancelled again."),
      skipped: count("Events that could not be replayed, or had changed before their turn."),
      skipped_by: list(SKIPS, "The parts of `skipped`, by their reason."),
      excluded: list(SKIPS, "The part of `skipped_by` that was known at the start."),
      open: {
        type: "object",
        description: "Replayed events that have not ended, by the id of their endpoint.",
        additionalProperties: { type: "integer", minimum: 1 },
      },
      rate_per_second: count("The most events a second."),
      by: REPLAYER,
      reason: orNull(words("The reason."), "none was given."),
      started_at: time("When it was requested."),
      ended_at: orNull(time("When all events were processed, or it was cancelled."), "it is running."),
      cancelled: orNull(CANCELLED, "it was not cancelled."),
    }),
  ],
};
