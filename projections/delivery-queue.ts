import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

export type QueueDocument = {
  readonly event_id: string;
  readonly account: string;
  readonly endpoint_id: string;
  readonly admitted_at: string;
  /** When the next attempt is due; during an attempt, when its lease ends. */
  readonly due_at: string;
  readonly attempts: number;
  /** The node that holds the lease; null between attempts. */
  readonly node: string | null;
  readonly lease_until: string | null;
  /** When the last attempt failed; null before the first attempt and during any. */
  readonly failed_at: string | null;
  /**
   * The endpoint of a delivery that does not wait for the endpoint's recovery; null if it waits. An undo without a
   * failed attempt does not wait, and a cancelled delivery does not, which ends with its current attempt.
   */
  readonly pressing_at: string | null;
  /** The position of the record that admitted, released or replayed the event. */
  readonly position: string;
  /** The last revision of the delivery's stream. */
  readonly revision: number;
};

const evolve = (document: QueueDocument | null, recorded: RecordedEvent): QueueDocument | null => {
  const event = eventOf<DeliveryEvent>(recorded);
  const { revision } = recorded;
  if (event.type === "EventAdmitted" || event.type === "EventReleased") {
    const { event_id, endpoint_id, at } = event.data;
    if (endpoint_id === null) return null;
    const { account } = recorded.meta;
    const isUndo = event.type === "EventAdmitted" && event.data.bundle?.undo === true;
    // A request that was held again after attempts goes on counting them.
    const attempts = event.type === "EventReleased" ? (event.data.attempts ?? 0) : 0;
    const idle = { attempts, node: null, lease_until: null, failed_at: null, position: recorded.position };
    const pressing_at = isUndo ? endpoint_id : null;
    return { event_id, account, endpoint_id, admitted_at: at, due_at: at, ...idle, pressing_at, revision };
  }
  if (event.type === "EventReplayed") {
    const { event_id, endpoint_id, admitted_at, attempts, at: due_at } = event.data;
    const { account } = recorded.meta;
    const idle = { attempts, node: null, lease_until: null, failed_at: null, position: recorded.position };
    // A replay is never a step or an undo of a bundle, so it is not pressing.
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
      const due_at = next_attempt_at;
      return { ...document, node: null, lease_until: null, due_at, failed_at, pressing_at: null, revision };
    }
    case "CancellationRequested":
      return { ...document, pressing_at: document.endpoint_id, revision };
    case "EventHeldAgain":
    case "EventDelivered":
    case "DeliveryFailed":
    case "EventCancelled":
      return null;
    default:
      // Any other record, such as a count or an erasure, moves the revision that the next attempt has to expect.
      return { ...document, revision };
  }
};

/** In this view the deliverer finds the deliveries that memory has dropped or a crash has lost. */
export const deliveryQueue: Projection<QueueDocument> = {
  schema: {
    name: "delivery-queue.v4",
    fields: { endpoint_id: "text", due_at: "text", position: "text", pressing_at: "text" },
    // The first index lists the endpoints; the second and third list the deliveries of one.
    indexes: [["endpoint_id"], ["endpoint_id", "due_at"], ["endpoint_id", "position"], ["pressing_at", "position"]],
  },
  idsOf: (event) => {
    const id = deliveryOf(event);
    return id === null ? [] : [id];
  },
  apply(event, documents) {
    const id = deliveryOf(event);
    if (id === null) return;
    const before = documents.get(id);
    const after = evolve(before, event);
    if (after !== before) documents.put(id, after);
  },
};
