import type { EventLog, Position, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { RecordName } from "../../domain/ports/view-store.ts";

/** A copy of the log has other positions, so a record is found there by its stream and revision. */
export type LogCursor = { readonly position: Position; readonly stream: string; readonly revision: Revision };

export const cursorOf = ({ position, stream, revision }: RecordedEvent): LogCursor => ({ position, stream, revision });

/** The position of the record that a checkpoint names; null is the log's beginning. Throws if the record is missing. */
export const positionAfter = async (
  log: Pick<EventLog, "read">,
  checkpoint: RecordedEvent | null,
): Promise<Position | null> => {
  if (checkpoint === null) return null;
  const { stream, revision } = checkpoint.data;
  if (typeof stream !== "string" || typeof revision !== "number") return null;
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  if (event?.revision === revision) return event.position;
  throw new Error(`${checkpoint.stream} is at ${stream}, revision ${revision}, which this log does not have`);
};

/** False if the log has another record at this place, or none, because it was restored from an older copy. */
export const hasRecord = async (
  log: Pick<EventLog, "read">,
  { stream, revision, id, position }: RecordName & Pick<LogCursor, "position">,
): Promise<boolean> => {
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  return event?.revision === revision && event.id === id && event.position === position;
};
