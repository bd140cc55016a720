import type { Replay } from "../../domain/delivery/events.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Envelope } from "../streams/envelope.ts";

/** The replay of one event. Repeating it with the same replay id changes nothing. */
export type ReplayOrder = {
  readonly eventId: string;
  readonly replay: Replay;
  /** Names the caller's account and, as actor, the person who replays. */
  readonly envelope: Envelope;
  /** Events that ended after this position are left alone; undefined for no such limit. */
  readonly upTo?: Position | null;
};
