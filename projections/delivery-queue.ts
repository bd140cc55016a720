import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** An API event that waits for an attempt, or is in one. */
export type QueueDocument = {
  readonly event_id: string;
  readonly account: string;
  readonly endpoint_id: string;
  readonly admitted_at: string;
  /** When to try; during an attempt the end of its lease, when it may be tried again. */
  readonly due_at: string;
  /** Attempts begun. */
  readonly attempts: number;
  /** Who is trying, and until when no other may; null between attempts. */
  readonly node: string | null;
  readonly lease_until: string | null;
  /** When its last attempt failed; null before the first and during one. */
  readonly failed_at: string | null;
  /**
   * The endpoint once more, of what does not wait until that is well: what takes a bundle's step back, as long as no attempt
   * has failed, and what ends as soon as its attempt has; else null.
   */
  readonly pressing_at: string | null;
  /** Of the record that admitted, released or replayed it, in the log: what was admitted before has a lower one. */
  readonly position: string;
  /** Of the last record in the delivery's stream. */
  readonly revision: number;
};

const evolve = (document: QueueDocument | null, recorded: RecordedEvent): QueueDocument | null => {
  // The stream's category says which events are in it; a type that this build does not know falls through.
  const event = recorded as unknown as DeliveryEvent;
  const { revision } = recorded;
  if (event.type === "EventAdmitted" || event.type === "EventReleased") {
    const { event_id, endpoint_id, at } = event.data;
    if (endpoint_id === null) return null;
    const { account } = recorded.meta;
    const isUndo = event.type === "EventAdmitted" && event.data.bundle?.undo === true;
    // One that was held again goes on with its next attempt.
    const attempts = event.type === "EventReleased" ? (event.data.attempts ?? 0) : 0;
    const idle = { attempts, node: null, lease_until: null, failed_at: null, position: recorded.position };
    const pressing_at = isUndo ? endpoint_id : null;
    return { event_id, account, endpoint_id, admitted_at: at, due_at: at, ...idle, pressing_at, revision };
  }
  if (event.type === "EventReplayed") {
    const { event_id, endpoint_id, admitted_at, attempts, at: due_at } = event.data;
    const { account } = recorded.meta;
    const idle = { attempts, node: null, lease_until: null, failed_at: null, position: recorded.position };
    // No bundle's step is replayed.
    return { event_id, account, endpoint_id, admitted_at, due_at, ...idle, pressing_at: null, revision };
  }
  if (document === null) return null;
  switch (event.type) {
    case "AttemptStarted": {
      const { number: attempts, node, lease_until } = event.data;
      return { ...document, attempts, node, lease_until, due_at: lease_until, failed_at: null, revision };
    }
    case "AttemptFailed": {
      const { next_attempt_at, at: failed_at } = event.data;
      if (next_attempt_at === null) return null;
      const waits = { node: null, lease_until: null, due_at: next_attempt_at, failed_at, pressing_at: null };
      return { ...document, ...waits, revision };
    }
    case "CancellationRequested":
      return { ...document, pressing_at: document.endpoint_id, revision };
    case "EventHeldAgain":
    case "EventDelivered":
    case "DeliveryFailed":
    case "EventCancelled":
      return null;
    default:
      // Counts and erasures move the revision that the next attempt has to expect.
      return { ...document, revision };
  }
};

/** What is to be delivered, by endpoint and time: the deliverer's list on disk of what memory has forgotten or lost. */
export const deliveryQueue: Projection = {
  schema: {
    name: "delivery-queue.v4",
    fields: { endpoint_id: "text", due_at: "text", position: "text", pressing_at: "text" },
    // The first walks from endpoint to endpoint, the others through what one of them waits for.
    indexes: [["endpoint_id"], ["endpoint_id", "due_at"], ["endpoint_id", "position"], ["pressing_at", "position"]],
  },
  idsOf: (event) => {
    const id = deliveryOf(event);
    return id === null ? [] : [id];
  },
  apply(event, documents) {
    const id = deliveryOf(event);
    if (id === null) return;
    // The view's own documents come back as they were put.
    const before = documents.get(id) as QueueDocument | null;
    const after = evolve(before, event);
    if (after !== before) documents.put(id, after);
  },
};
