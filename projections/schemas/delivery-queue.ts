import type { QueueDocument } from "../delivery-queue.ts";
import { closed, count, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

const BETWEEN = "nobody is trying.";

export const deliveryQueueView: PublishedView = {
  view: "delivery-queue.v4",
  description: "The events that wait for an attempt or are in one. What is delivered or given up leaves it.",
  id: "The event's id, evt_….",
  documents: [
    closed<QueueDocument>("An event on its way.", {
      event_id: text("The event's id, evt_…."),
      account: ACCOUNT,
      endpoint_id: text("Where it is to be delivered, end_…."),
      admitted_at: time("When it was admitted, or released by an approval."),
      due_at: time("When to try. During an attempt: when its lease ends and another node may try."),
      attempts: count("Attempts begun."),
      node: orNull(text("The process that is trying."), BETWEEN),
      lease_until: orNull(time("Until when no other process may try."), BETWEEN),
      failed_at: orNull(time("When its last attempt failed."), "it has not been tried, or somebody is trying."),
      pressing_at: orNull(
        text("The endpoint once more, of what takes a bundle's step back, or is cancelled: it does not wait for it."),
        "it waits while its endpoint is disabled.",
      ),
      position: text("Where in the log it was admitted, released or replayed: what came before has a lower one."),
      revision: count("Of the last record in the event's stream."),
    }),
  ],
};
