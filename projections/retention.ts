import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { perDocument } from "./projection.ts";
import { categoryOf, subjectOf } from "./streams.ts";

export type RetainedDocument = { readonly account: string; readonly ended_at: string };

/** "ended": the payload may be erased after the plan's days. "none": it must stay or is gone. Null: no change. */
const saidBy = ({ type, data }: RecordedEvent): "none" | "ended" | null => {
  switch (type) {
    case "EventAdmitted":
    case "EventReleased":
      // Without an endpoint nothing is sent, so the event has ended.
      return data.endpoint_id === null ? "ended" : "none";
    case "EventHeld":
    case "EventHeldAgain":
    case "EventReplayed":
    // A step's payloads are erased with its bundle, which may still need them.
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

/** The ended events and bundles whose payloads may be erased after the plan's days. */
export const retention = perDocument<RetainedDocument>(
  {
    name: "retention.v1",
    fields: { account: "text", ended_at: "text" },
    indexes: [["account", "ended_at"]],
    packing: { members: { account: "word", ended_at: "time" }, isSmall: true },
  },
  (event) => (isOfInterest(event) ? subjectOf(event.stream) : null),
  (_, event) => (saidBy(event) === "ended" ? { account: event.meta.account, ended_at: String(event.data.at) } : null),
);
