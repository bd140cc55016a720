import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { type Projection, perDocument } from "./projection.ts";
import { categoryOf, subjectOf } from "./streams.ts";

/** What has ended and whose payload is still there. */
export type RetainedDocument = { readonly account: string; readonly ended_at: string };

/** What a record says of what retention may take: nothing any more or not yet, or that it has ended; null: nothing. */
const saidBy = ({ type, data }: RecordedEvent): "none" | "ended" | null => {
  switch (type) {
    case "EventAdmitted":
    case "EventReleased":
      // Without an endpoint there is nothing to send.
      return data.endpoint_id === null ? "ended" : "none";
    case "EventHeld":
    case "EventHeldAgain":
    case "EventReplayed":
    // Its payloads go with those of its bundle, which may still need them.
    case "BundleStepEnded":
    case "BundleAdmitted":
    case "BundleHeld":
    case "BundleHeldAgain":
    case "BundleReleased":
    case "RollbackStarted":
    case "PayloadErased":
    case "BundlePayloadErased":
      return "none";
    case "DeliveryFailed": {
      // The type of a recorded event says what its data are.
      const { failure } = data as Extract<DeliveryEvent, { type: "DeliveryFailed" }>["data"];
      return failure.kind === "payload-erased" ? "none" : "ended";
    }
    case "EventBlocked":
    case "AdmissionAbandoned":
    case "HoldEnded":
    case "EventDelivered":
    case "EventCancelled":
    case "BundleBlocked":
    case "BundleAbandoned":
    case "BundleHoldEnded":
    case "BundleCommitted":
    case "BundleRolledBack":
    case "RollbackIncomplete":
    case "StepResolved":
      return "ended";
    default:
      return null;
  }
};

const isOfInterest = (event: RecordedEvent): boolean => {
  const category = categoryOf(event.stream);
  return (category === "delivery" || category === "bundle") && saidBy(event) !== null;
};

/** Whose payload may be erased once the plan's days have passed: events and bundles that have ended, by account and time. */
export const retention: Projection = perDocument<RetainedDocument>(
  {
    name: "retention.v1",
    fields: { account: "text", ended_at: "text" },
    // The first walks from account to account, the second through what one of them has.
    indexes: [["account"], ["account", "ended_at"]],
  },
  (event) => (isOfInterest(event) ? subjectOf(event.stream) : null),
  // Each of these has the time.
  (_, event) => (saidBy(event) === "ended" ? { account: event.meta.account, ended_at: String(event.data.at) } : null),
);
