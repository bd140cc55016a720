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
  /** The text of `Countersign-Position`, which names this log too. */
  readonly position: string;
  readonly actorkind: ActorKind;
  readonly actorid: string;
  readonly traceparent?: string;
  readonly causationid?: string;
  /** Absent if it cannot be carried; `dataref` (an extension) then says where to read it. */
  readonly data?: JsonObject;
  readonly dataref?: string;
};

export type Feed = {
  /** After a rejection some may be stored, and publishing the same events again is safe. */
  publish(events: readonly CloudEvent[]): Promise<void>;
  close(): Promise<void>;
};
