import type { QueueDocument } from "../delivery-queue.ts";
import { closed, count, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const BETWEEN = "no attempt is running.";

export const deliveryQueueView: PublishedView = {
  view: "delivery-queue.v4",
  description: "The events that wait for an attempt or are in one. Delivered and failed events are removed.",
  id: "The event's id, evt_….",
  documents: [
    closed<QueueDocument>("An event on its way.", {
      event_id: text("The event's id, evt_…."),
      account: ACCOUNT,
      endpoint_id: text("The endpoint's id, end_…."),
      admitted_at: time("When it was admitted, or released by an approval."),
      due_at: time("When the next attempt is due. During an attempt: when its lease ends and another node may try."),
      attempts: count("Attempts begun."),
      node: orNull(text("The process that makes the attempt."), BETWEEN),
      lease_until: orNull(time("When another process may try."), BETWEEN),
      failed_at: orNull(time("When its last attempt failed."), "no attempt has failed, or one is running."),
      pressing_at: orNull(
        text("The endpoint again, for an undo or a cancelled event, which do not wait while it is disabled."),
        "the event waits while its endpoint is disabled.",
      ),
      position: text("The log position at which it was admitted, released or replayed."),
      revision: count("The revision of the last record in the event's stream."),
    }),
  ],
};
