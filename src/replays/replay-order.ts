import type { Replay } from "../../domain/delivery/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Envelope } from "../streams/envelope.ts";

export type ReplayOrder = {
  readonly eventId: string;
  readonly replay: Replay;
  readonly envelope: Envelope;
  /** The last position that a bulk replay includes: null if the log was empty, undefined for a single replay. */
  readonly upTo?: Position | null;
};
