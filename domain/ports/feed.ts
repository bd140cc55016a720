import type { JsonObject } from "../json.ts";
import type { ActorKind, Revision } from "./event-log.ts";

/** CloudEvents 1.0 (JSON event format, section 2). Source and id identify a record for good, in every engine. */
export type CloudEvent = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly account?: string;
  readonly revision: Revision;
  /** The text of the header `Countersign-Position`, which has characters of this log's identity. */
  readonly position: string;
  readonly actorkind: ActorKind;
  readonly actorid: string;
  readonly traceparent?: string;
  readonly causationid?: string;
  /** Absent if the event cannot carry it; `dataref` (a CloudEvents extension) then says where to read it. */
  readonly data?: JsonObject;
  readonly dataref?: string;
};

export type Feed = {
  /** After a rejection some of the events may be stored; publishing all of them again is safe. */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};
