import type { EventSummary } from "../bodies/event-answer.ts";
import type { EventLine } from "./event-line.ts";
import type { StreamRecord } from "./record-stream.ts";

type Listed = Pick<EventSummary, "status" | "attempt_count">;

export type ListedEvents = {
  add(event: Pick<EventSummary, "id"> & Listed): void;
  /** True if the list showed the event as it was after this record. `line` is null for a record that changes no line. */
  shows(record: StreamRecord, line: EventLine | null): boolean;
};

const DECISIONS: ReadonlySet<string> = new Set(["EventAdmitted", "EventHeld", "EventBlocked"]);

/** The number of the attempt that the record is about; null if it is about none. */
const attemptIn = ({ type, data }: StreamRecord): number | null =>
  type.startsWith("Attempt") && typeof data.number === "number" ? data.number : null;

const isIn = ({ status, attempt_count: attempts }: Listed, record: StreamRecord, line: EventLine | null): boolean => {
  if (DECISIONS.has(record.type)) return true;
  const number = attemptIn(record);
  if (number === null) return line === null || line.status === status;
  if (number !== attempts) return number < attempts;
  // While an attempt is under way its end is not in the list yet.
  return record.type === "AttemptStarted" || status !== "delivering";
};

/**
 * A list of events that is read after the stream has begun may show some of the stream's first records as well. Which
 * ones follows from the event's status and its number of attempts: once a record goes beyond these, all later ones do.
 */
export const listedEvents = (): ListedEvents => {
  const listed = new Map<string, Listed>();
  return {
    add({ id, status, attempt_count }) {
      listed.set(id, { status, attempt_count });
    },
    shows(record, line) {
      const event = listed.get(record.id);
      if (event === undefined) return false;
      const isShown = isIn(event, record, line);
      if (!isShown) listed.delete(record.id);
      return isShown;
    },
  };
};
