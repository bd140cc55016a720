import type { Replay } from "../../domain/delivery/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Envelope } from "../streams/envelope.ts";

export type ReplayOrder = {
  readonly eventId: string;
  readonly replay: Replay;
  readonly envelope: Envelope;
  /** The snapshot of a bulk replay: null if the log was empty, undefined for a single replay. */
  readonly upTo?: Position | null;
};
