import type { JsonObject } from "../../domain/json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { NotificationName } from "./names.ts";

export type Notification = {
  readonly type: NotificationName;
  /** What it is about: of one name and subject there is one notification, whatever has said it. */
  readonly subject: string;
  /** When it happened. */
  readonly timestamp: string;
  /** For people and machines outside: nothing of a payload, and nothing that only some members may see. */
  readonly data: JsonObject;
};

export type Said = Pick<Notification, "type" | "subject" | "data"> & {
  /** The endpoint that it is about: that one is not told of itself. */
  readonly about?: string;
};
/** Null: the record says nothing to anybody. */
export type Say = (record: RecordedEvent, aggregates: Pick<Aggregates, "load">) => Promise<Said | null>;
