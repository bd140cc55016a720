import type { JsonObject } from "../../domain/json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { NotificationName } from "./names.ts";

export type Notification = {
  readonly type: NotificationName;
  /** Each endpoint gets one notification for a type and subject, however many records cause it. */
  readonly subject: string;
  readonly timestamp: string;
  /** This leaves the service, so it contains no payload and nothing that only some members may see. */
  readonly data: JsonObject;
};

type Content = Pick<Notification, "type" | "subject" | "data"> & {
  /** The id of the endpoint that the notification is about, which does not receive it. */
  readonly about?: string;
};
/** What a record says to subscribers; null if the record causes no notification. */
export type ContentOf = (record: RecordedEvent, aggregates: Pick<Aggregates, "load">) => Promise<Content | null>;
