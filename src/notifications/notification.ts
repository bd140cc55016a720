import type { JsonObject } from "../../domain/json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { NotificationName } from "./names.ts";

export type Notification = {
  readonly type: NotificationName;
  /** There is one notification for a type and subject, however many records cause it. */
  readonly subject: string;
  readonly timestamp: string;
  /** Leaves the service, so it contains no payload and nothing that only some members may see. */
  readonly data: JsonObject;
};

type Content = Pick<Notification, "type" | "subject" | "data"> & {
  /** An endpoint is not notified about itself. */
  readonly about?: string;
};
/** Null if the record causes no notification. */
export type ContentOf = (record: RecordedEvent, aggregates: Pick<Aggregates, "load">) => Promise<Content | null>;
