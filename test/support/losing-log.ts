import type { EventLog } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { appendingLog } from "./appending-log.ts";

const dead = (): never => {
  throw new LogUnavailable("the process is gone");
};

/** A log that its process loses at its `nth` append: just before it, or once it is written and before it is told. */
export const losingLog = (log: EventLog, nth: number, side: "before" | "behind") => {
  let appends = 0;
  let at: string | null = null;
  const appending = appendingLog(log, async (stream, expected, events) => {
    if (at !== null) return dead();
    appends += 1;
    if (appends < nth) return log.append(stream, expected, events);
    at = events.map(({ type }) => type).join("+");
    if (side === "behind") await log.append(stream, expected, events);
    return dead();
  });
  const lost: EventLog = {
    ...appending,
    read: async (...args) => (at === null ? log.read(...args) : dead()),
    last: async (stream) => (at === null ? log.last(stream) : dead()),
    readTypes: async (...args) => (at === null ? log.readTypes(...args) : dead()),
  };
  /** The types of what was lost; null as long as nothing is. */
  return { log: lost, died: () => at };
};
