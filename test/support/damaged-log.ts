import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";

/** The text with another first byte. */
const flipped = (text: unknown): string => {
  const bytes = Buffer.from(String(text));
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return bytes.toString();
};

/** The event as a disk gives it back that has changed one byte of this member. */
const withFlippedByte = (event: RecordedEvent, member = "body"): RecordedEvent => {
  const data: JsonObject = { ...event.data, [member]: flipped(event.data[member]) };
  return { ...event, data };
};

/** A log whose disk has changed a byte of the payloads in the streams of `damaged`, which a test may change. */
export const damagedLog = (log: EventLog, damaged: ReadonlySet<string>): EventLog => ({
  ...log,
  async read(stream, after, limit) {
    const page = await log.read(stream, after, limit);
    if (!damaged.has(stream)) return page;
    return page.map((event) => (event.type === "PayloadKept" ? withFlippedByte(event) : event));
  },
});
