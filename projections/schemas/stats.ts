import { REFUSED_BUNDLE, type StatsAccount, type StatsEvent } from "../stats-event.ts";
import { STATS_BY, STATS_STEPS, type StatsBucket } from "../stats-totals.ts";
import { EVENT_STATUSES } from "./events.ts";
import { amount, closed, count, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, histogram } from "./words.ts";

const number = (status: string) => optional(count(`Events whose status is ${status} by now. Missing: none.`));

export const statsView: PublishedView = {
  view: "stats.v3",
  description:
    "Sums of the requests of sources and agents, by the time at which they were received and by their status now, so that " +
    "each figure is the number of the documents of events.v3 with the same filter. Minutes are kept for 48 hours, hours " +
    "for 100 days and days for good: a minute or hour has a fixed place, and is overwritten by the next one that takes it.",
  id: "<account>/<by>/<step>/<place>/<key>; an event's id, or an account's, for the documents that the sums are made from.",
  documents: [
    closed<StatsBucket>("A bucket of time. A bucket without events has no document.", {
      account: ACCOUNT,
      by: oneOf(
        STATS_BY,
        "What the events have in common. `policy` is the policy that decided, `gate` the one that refused, of blocked events.",
      ),
      key: text("The id or name by which the events are grouped; empty for `all`."),
      step: oneOf(STATS_STEPS, "The bucket's length. A day is one of the account's time zone, the others are of UTC."),
      series: text("<account>/<by>/<step>."),
      at: time("The bucket's beginning; of a day, its date at midnight UTC, whatever the account's time zone."),
      blocked: number("blocked"),
      held: number("held"),
      queued: number("queued"),
      delivering: number("delivering"),
      retrying: number("retrying"),
      delivered: number("delivered"),
      failed: number("failed"),
      recorded: number("recorded"),
      rejected: number("rejected"),
      expired: number("expired"),
      cancelled: number("cancelled"),
      bundles_blocked: optional(
        count("Bundles that are refused as one, as bundles.v2 has them; they are no events. Missing: none."),
      ),
      attempts: optional(count("HTTP requests that were sent for these events. Missing: none.")),
      cost: optional({
        type: "number",
        description:
          "Micro-euros of the events that are queued, delivering, retrying, delivered, failed or recorded. Missing: 0. " +
          "Negative if undos gave more back than was spent.",
      }),
      reserved: optional({
        type: "number",
        description: "Micro-euros of the events that are held, queued, delivering or retrying. Missing: 0.",
      }),
      spent: optional({
        type: "number",
        description:
          "Micro-euros of the events that are delivered, failed or recorded. Missing: 0. May be negative, too.",
      }),
      latency: optional(histogram("From admission, release or replay to the end of the successful delivery.", 16)),
    }),
    closed<Omit<StatsEvent, "is_final">>(
      "An event that can still change, of which most have none; or a refused bundle.",
      {
        account: ACCOUNT,
        day: text("The day of `received_at` in the account's time zone, YYYY-MM-DD."),
        received_at: time("When its first request arrived."),
        status: oneOf([...EVENT_STATUSES, REFUSED_BUNDLE], `Its status; ${REFUSED_BUNDLE} for a bundle.`),
        origin_kind: oneOf(["source", "agent"], "Where it came from."),
        origin_id: text("The id of that source or agent."),
        endpoint_id: orNull(text("Where it is sent."), "it is only recorded."),
        action: orNull(text("The requested action."), "it came from a source."),
        policy_id: orNull(text("The policy that decided."), "there was none."),
        gate: orNull(text("The gate that refused its last request."), "none did."),
        cost: orNull({ type: "number", description: "Micro-euros." }, "it has none."),
        attempts: count("HTTP requests sent for it."),
        latency: orNull(amount("Its latency, ms."), "it is not delivered."),
      },
    ),
    closed<StatsAccount>("An account.", {
      time_zone: text("Its first IANA time zone."),
      changes: optional(
        list(
          {
            type: "object",
            required: ["from", "time_zone"],
            additionalProperties: false,
            properties: { from: text("The position of the record."), time_zone: text("The zone from there on.") },
          },
          "Its later zones, oldest first.",
        ),
      ),
    }),
  ],
};
