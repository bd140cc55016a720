import type { Readable } from "node:stream";
import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { PositionText } from "../http/position-text.ts";
import { cloudEvent } from "./cloud-event.ts";
import type { FollowedCount } from "./record-counts.ts";
import { RETRY_MS, type SentEvents, sentEvents } from "./sent-events.ts";

const CHUNK = 16;

export const START_ID = "start";
const TAG_LENGTH = 8;

/** The id of a frame has the first characters of the record's id, so that an id of another log is noticed. */
export const streamIdOf = (index: number, { id }: Pick<RecordedEvent, "id">): string =>
  `${index}-${id.slice(0, TAG_LENGTH)}`;

const frameOf = (index: number, record: RecordedEvent, positions: Pick<PositionText, "of">): string => {
  const event = cloudEvent(record, positions);
  return `id: ${streamIdOf(index, record)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
};

export type EventStreamSource = Omit<SentEvents, "frames" | "wake"> & {
  readonly next: number;
  readonly lastId: string;
  readonly newerThan: Position | null;
  readonly count: FollowedCount;
  readonly read: (index: number, limit: number) => Promise<readonly RecordedEvent[]>;
  readonly positions: Pick<PositionText, "of">;
};

async function* framesOf(source: EventStreamSource, mayGoOn: () => Promise<boolean>): AsyncGenerator<string, void> {
  const { count, times, newerThan } = source;
  let { next } = source;
  let sentAt = performance.now();
  if (!(await mayGoOn())) return;
  // A frame with an id and no data is no event to a client, but the client remembers the id and resumes from there.
  yield `retry: ${RETRY_MS}\nid: ${source.lastId}\n\n`;
  while (await mayGoOn()) {
    const records = next < count.count() ? await source.read(next, Math.min(CHUNK, count.count() - next)) : [];
    for (const record of records) {
      if (!(await mayGoOn())) return;
      const isOlder = newerThan !== null && record.position <= newerThan;
      yield isOlder ? `id: ${streamIdOf(next, record)}\n\n` : frameOf(next, record, source.positions);
      next += 1;
      sentAt = performance.now();
    }
    if (records.length > 0) continue;
    if (performance.now() - sentAt >= times.heartbeatMs) {
      yield ":\n\n";
      sentAt = performance.now();
    }
    await count.changed(times.heartbeatMs);
  }
}

/** The stream ends when the client leaves or does not read, when the credential ends, and when the server closes. */
export const eventStream = (source: EventStreamSource): Readable =>
  sentEvents({
    ...source,
    frames: (mayGoOn) => framesOf(source, mayGoOn),
    wake: source.count.wake,
    onEnd() {
      source.count.end();
      source.onEnd();
    },
  });
