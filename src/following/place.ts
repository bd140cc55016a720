import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { RecordName } from "../../domain/ports/view-store.ts";

/** The last event that a follower of the log has dealt with. A copy of the log has other positions, and the same streams. */
export type Place = { readonly position: Position; readonly stream: string; readonly revision: Revision };

export const placeOf = ({ position, stream, revision }: RecordedEvent): Place => ({ position, stream, revision });

/**
 * Where to go on: behind the event that a checkpoint's data name; null is the log's beginning. Throws when this log does
 * not have that event, as nobody then knows what was dealt with.
 */
export const positionOf = async (
  log: Pick<EventLog, "read">,
  checkpoint: RecordedEvent | null,
): Promise<Position | null> => {
  if (checkpoint === null) return null;
  const { position, stream, revision } = checkpoint.data;
  if (typeof stream === "string" && typeof revision === "number") {
    const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
    if (event?.revision === revision) return event.position;
    throw new Error(`${checkpoint.stream} is at ${stream}, revision ${revision}, which this log does not have`);
  }
  // Written before checkpoints named their event: the position is all there is. One of another engine has another width,
  // and one that is not before the checkpoint itself was not given by this log; what is then done again is idempotent.
  const isOwn =
    typeof position === "string" && position.length === checkpoint.position.length && position < checkpoint.position;
  return isOwn ? position : null;
};

/** Whether this log has the record, at this position: a log that was restored from an older copy may have another one there. */
export const hasRecord = async (
  log: Pick<EventLog, "read">,
  { stream, revision, id, position }: RecordName & Pick<Place, "position">,
): Promise<boolean> => {
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  return event?.revision === revision && event.id === id && event.position === position;
};
