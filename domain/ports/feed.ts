import type { JsonObject } from "../json.ts";
import type { ActorKind, Revision } from "./event-log.ts";

/** CloudEvents 1.0 (JSON event format, section 2). Source and id identify a record permanently, in every engine. */
export type CloudEvent = {
  readonly specversion: "1.0";
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
  /** The text of `Countersign-Position`, which names this log too. */
  readonly position: string;
  readonly actorkind: ActorKind;
  readonly actorid: string;
  /** Extension: distributed tracing. */
  readonly traceparent?: string;
  /** Extension: correlation. The id of the event that was reacted to. */
  readonly causationid?: string;
  /** Left out if it cannot be carried; `dataref` (an extension) then says where to read it. */
  readonly data?: JsonObject;
  readonly dataref?: string;
};

export type Feed = {
  /**
   * Resolves when all are stored, those of one subject in this order. Rejects if that is uncertain for any: some may be
   * stored, and publishing the same events again is safe.
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};
