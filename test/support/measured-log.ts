import type { EventLog } from "../../domain/ports/event-log.ts";
import { appendingLog } from "./appending-log.ts";

/** What an append may carry in every engine: data, metadata and types as UTF-8 JSON. */
export const APPEND_LIMIT_BYTES = 1_000_000;

export type MeasuredLog = { readonly log: EventLog; largestAppend(): number };

/** A log that remembers how long its longest append was. */
export const measuredLog = (log: EventLog): MeasuredLog => {
  let largest = 0;
  return {
    largestAppend: () => largest,
    log: appendingLog(log, (stream, expected, events) => {
      const texts = events.map(({ type, data, meta }) => type + JSON.stringify(data) + JSON.stringify(meta));
      largest = Math.max(largest, Buffer.byteLength(texts.join("")));
      return log.append(stream, expected, events);
    }),
  };
};
