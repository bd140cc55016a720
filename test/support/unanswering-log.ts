import type { EventLog } from "../../domain/ports/event-log.ts";
import { OutcomeUnknown } from "../../infra/log-errors.ts";
import { appendingLog } from "./appending-log.ts";

/** A log whose appends to the streams that are silenced are never answered, whether or not they are written. */
export const unansweringLog = (log: EventLog) => {
  let silenced: { readonly streams: (stream: string) => boolean; readonly isWritten: boolean } | null = null;
  const unanswering = appendingLog(log, async (stream, expected, events) => {
    if (silenced === null || !silenced.streams(stream)) return log.append(stream, expected, events);
    if (silenced.isWritten) await log.append(stream, expected, events);
    throw new OutcomeUnknown(`no answer about ${stream}`);
  });
  return {
    log: unanswering,
    silence: (streams: (stream: string) => boolean, isWritten: boolean): void => {
      silenced = { streams, isWritten };
    },
    answerAgain: (): void => {
      silenced = null;
    },
  };
};
