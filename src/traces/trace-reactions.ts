import type { BundleEvent } from "../../domain/bundle/events.ts";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { SpanExporter } from "../../domain/ports/span-exporter.ts";
import type { Reaction } from "../following/reaction.ts";
import { spansOfEndedBundle, spansOfEndedEvent } from "./recorded-spans.ts";

const ENDS = [
  "EventBlocked",
  "EventDelivered",
  "DeliveryFailed",
  "HoldEnded",
  "EventCancelled",
] as const satisfies readonly DeliveryEvent["type"][];

/** These records are the end of an event that has no destination. */
const LETS_GO = ["EventAdmitted", "EventReleased"] as const satisfies readonly DeliveryEvent["type"][];

const BUNDLE_ENDS = [
  "BundleBlocked",
  "BundleHoldEnded",
  "BundleCommitted",
  "BundleRolledBack",
  "RollbackIncomplete",
] as const satisfies readonly BundleEvent["type"][];

/** This many executions at most wait in memory for the collector. */
export const TRACES_AT_ONCE = 64;
export const TRACES_GATHER_MS = 500;

/** These reactions have a follower for themselves, so that nothing else waits for a collector that is away. */
export const traceReactions = (log: EventLog, exporter: SpanExporter): readonly Reaction[] => {
  const ofEvent = async (end: RecordedEvent): Promise<void> => exporter.export(await spansOfEndedEvent(log, end));
  const ofBundle = async (end: RecordedEvent): Promise<void> => exporter.export(await spansOfEndedBundle(log, end));
  return [
    ...ENDS.map((on) => ({ on, run: ofEvent })),
    ...BUNDLE_ENDS.map((on) => ({ on, run: ofBundle })),
    ...LETS_GO.map((on) => ({
      on,
      run: async (event: RecordedEvent) => (event.data.endpoint_id === null ? ofEvent(event) : undefined),
    })),
  ];
};
