import type { EventLog } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { appendingLog } from "./appending-log.ts";

/** A log that refuses appends to the streams that `refuses` names, as if the process had ended just before them. */
export const failingLog = (log: EventLog, refuses: (stream: string) => boolean): EventLog =>
  appendingLog(log, async (stream, expected, events) => {
    if (refuses(stream)) throw new LogUnavailable(`no append to ${stream}`);
    return await log.append(stream, expected, events);
  });
