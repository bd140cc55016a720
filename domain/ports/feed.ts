import type { JsonObject } from "../json.ts";
import type { ActorKind, Revision } from "./event-log.ts";

/**
 * One record for the world outside, as CloudEvents 1.0 has it (JSON event format, section 2; extension attributes are
 * lower-case). Source and id name a record for ever, whichever engine keeps it; `position` is text that names this log too.
 */
export type CloudEvent = {
  readonly specversion: "1.0";
  /** The record's. */
  readonly id: string;
  /** A URI reference: the account's stream. */
  readonly source: string;
  readonly type: string;
  /** The stream: events of one subject come in the order of their revisions. */
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly account?: string;
  readonly revision: Revision;
  /** As `Countersign-Position` has it. */
  readonly position: string;
  readonly actorkind: ActorKind;
  readonly actorid: string;
  /** Of the extension for distributed tracing. */
  readonly traceparent?: string;
  /** Of the extension for correlation: the id of the event that was reacted to. */
  readonly causationid?: string;
  /** Left out only where it could not be carried; `dataref` (an extension as well) then says where it can be read. */
  readonly data?: JsonObject;
  readonly dataref?: string;
};

/** Where the records are published, outside of this program. */
export type Feed = {
  /**
   * Resolves when all are stored there, those of one subject in this order. Rejects when that is not known of all of them:
   * some may be stored, and publishing the same events again is safe.
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};
