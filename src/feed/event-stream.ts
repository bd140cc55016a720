import { Readable } from "node:stream";
import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { PositionText } from "../http/position-text.ts";
import { cloudEvent } from "./cloud-event.ts";
import type { FollowedCount } from "./record-counts.ts";

/** Times, in ms, of a stream of server-sent events (WHATWG HTML, section 9.2). */
export type EventStreamTimes = {
  readonly heartbeatMs: number;
  readonly recheckMs: number;
  readonly drainMs: number;
};

export const EVENT_STREAM_TIMES: EventStreamTimes = {
  /** Many proxies cut a connection that is silent for 30 s, so a comment is sent earlier. */
  heartbeatMs: 15_000,
  /** The credential is checked this often: if another node ends it, the stream has to end within 2 s. */
  recheckMs: 1_000,
  drainMs: 30_000,
};

const CHUNK = 16;
const BUFFER_BYTES = 16 * 1024;
const RETRY_MS = 3_000;

export const START_ID = "start";
const TAG_LENGTH = 8;

/** The id of a frame has the first characters of the record's id, so that an id of another log is noticed. */
export const streamIdOf = (index: number, { id }: Pick<RecordedEvent, "id">): string =>
  `${index}-${id.slice(0, TAG_LENGTH)}`;

const frameOf = (index: number, record: RecordedEvent, positions: Pick<PositionText, "of">): string => {
  const event = cloudEvent(record, positions);
  return `id: ${streamIdOf(index, record)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
};

export type EventStreamSource = {
  readonly next: number;
  readonly lastId: string;
  readonly newerThan: Position | null;
  readonly count: FollowedCount;
  readonly read: (index: number, limit: number) => Promise<readonly RecordedEvent[]>;
  readonly positions: Pick<PositionText, "of">;
  readonly isStillAllowed: () => Promise<boolean>;
  readonly watchCredential: (onChanged: () => void) => () => void;
  readonly closing: AbortSignal;
  readonly times: EventStreamTimes;
  readonly onEnd: () => void;
};

type Frames = Omit<EventStreamSource, "isStillAllowed">;

async function* framesOf(source: Frames, mayGoOn: () => Promise<boolean>): AsyncGenerator<string, void> {
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

/** Calls during a run of `work` lead to one more run after it, so two runs never overlap. `work` must not reject. */
const coalesced = (work: () => Promise<void>): (() => void) => {
  let isRunning = false;
  let isCalled = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isCalled) {
      isCalled = false;
      await work();
    }
    isRunning = false;
  };
  return () => {
    isCalled = true;
    if (!isRunning) void run();
  };
};

/** The stream ends when the client leaves or does not read, when the credential ends, and when the server closes. */
export const eventStream = (source: EventStreamSource): Readable => {
  const { count, closing, times, onEnd, isStillAllowed, watchCredential } = source;
  let isDestroyed = false;
  let isRevoked = false;
  let isPumping = false;
  let fullSince: number | null = null;

  const fail = (error: unknown): void => {
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
  };

  const revoke = (): void => {
    if (isRevoked || isDestroyed) return;
    isRevoked = true;
    count.wake();
    if (stream.readableLength > 0) stream.destroy();
    else stream.push(null);
    // A client that does not read would not notice the end of the stream, so the stream is destroyed after `drainMs`.
    fullSince = performance.now();
  };

  const isOver = (): boolean => isDestroyed || isRevoked || closing.aborted;
  const mayGoOn = async (): Promise<boolean> => {
    if (isOver()) return false;
    if (!(await isStillAllowed())) revoke();
    return !isOver();
  };
  const frames = framesOf(source, mayGoOn);

  const recheck = coalesced(async () => {
    await mayGoOn().catch(fail);
  });

  const pump = async (): Promise<void> => {
    isPumping = true;
    try {
      let isRoom = true;
      while (isRoom) {
        const { value, done } = await frames.next();
        if (isDestroyed || isRevoked) return;
        isRoom = stream.push(done === true ? null : value) && done !== true;
      }
      fullSince = performance.now();
    } catch (error) {
      fail(error);
    } finally {
      isPumping = false;
    }
  };

  const unwatch = watchCredential(recheck);
  const rechecks = setInterval(recheck, times.recheckMs).unref();
  const watch = setInterval(() => {
    if (fullSince !== null && performance.now() - fullSince >= times.drainMs) stream.destroy();
  }, times.drainMs / 4).unref();

  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      fullSince = null;
      if (!isPumping) void pump();
    },
    destroy(error, done) {
      isDestroyed = true;
      unwatch();
      clearInterval(rechecks);
      clearInterval(watch);
      closing.removeEventListener("abort", count.wake);
      count.wake();
      count.end();
      onEnd();
      done(error);
    },
  });
  closing.addEventListener("abort", count.wake);
  return stream;
};
