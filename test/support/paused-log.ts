import type { EventLog } from "../../domain/ports/event-log.ts";
import { appendingLog } from "./appending-log.ts";

export type PausedLog = {
  readonly log: EventLog;
  /** Resolves when the append has come that waits. */
  readonly reached: Promise<void>;
  /** Lets the append go on, and all later ones. */
  goOn(): void;
};

/** A log whose first append that begins with a record of this type waits until the test lets it go on. */
export const pausedLog = (log: EventLog, type: string): PausedLog => {
  let reach = (): void => undefined;
  let goOn = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  return {
    log: appendingLog(log, async (stream, expected, events) => {
      if (events[0]?.type === type) {
        reach();
        await gone;
      }
      return log.append(stream, expected, events);
    }),
    reached,
    goOn: () => goOn(),
  };
};
