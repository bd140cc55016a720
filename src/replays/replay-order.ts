import type { Replay } from "../../domain/delivery/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Envelope } from "../streams/envelope.ts";

/** One event once more. The same replay of the same event again is the same, however often it is asked for. */
export type ReplayOrder = {
  readonly eventId: string;
  readonly replay: Replay;
  /** Its account is the caller's, its actor who replays. */
  readonly envelope: Envelope;
  /** What has come to its end behind this is left alone; undefined for whatever there is. */
  readonly upTo?: Position | null;
};
