import type { BundleEvent } from "../../domain/bundle/events.ts";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { SpanExporter } from "../../domain/ports/span-exporter.ts";
import type { Reaction } from "../following/reaction.ts";
import { spansOfEndedBundle, spansOfEndedEvent } from "./reading.ts";

/** An event's: with them an execution has come to its end, or to one of its ends. */
const ENDS = [
  "EventBlocked",
  "EventDelivered",
  "DeliveryFailed",
  "HoldEnded",
  "EventCancelled",
] as const satisfies readonly DeliveryEvent["type"][];

/** From here on it is delivered, where it has a destination. */
const LETS_GO = ["EventAdmitted", "EventReleased"] as const satisfies readonly DeliveryEvent["type"][];

const BUNDLE_ENDS = [
  "BundleBlocked",
  "BundleHoldEnded",
  "BundleCommitted",
  "BundleRolledBack",
  "RollbackIncomplete",
] as const satisfies readonly BundleEvent["type"][];

/** So many executions are read and sent at once: what waits for a collector in memory is bounded by it. */
export const TRACES_AT_ONCE = 64;
/** Who looks at traces can wait for so long: each look takes what has ended meanwhile. */
export const TRACES_GATHER_MS = 500;

/**
 * Sends an execution's trace once it has ended, made from the log: for a follower of its own (`reactor.ts`), so that neither
 * a request nor anything that follows from one waits for a collector, and one that is away is waited for.
 */
export const traceReactions = (log: EventLog, exporter: SpanExporter): readonly Reaction[] => {
  const ofEvent = async (end: RecordedEvent): Promise<void> => exporter.export(await spansOfEndedEvent(log, end));
  const ofBundle = async (end: RecordedEvent): Promise<void> => exporter.export(await spansOfEndedBundle(log, end));
  return [
    ...ENDS.map((on) => ({ on, run: ofEvent })),
    ...BUNDLE_ENDS.map((on) => ({ on, run: ofBundle })),
    ...LETS_GO.map((on) => ({
      on,
      // With nowhere to go it has ended.
      run: async (event: RecordedEvent) => (event.data.endpoint_id === null ? ofEvent(event) : undefined),
    })),
  ];
};
