import { Readable } from "node:stream";

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

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Tells nginx not to hold events back in its buffer.
  "x-accel-buffering": "no",
};

const BUFFER_BYTES = 16 * 1024;
export const RETRY_MS = 3_000;

/** What a stream of server-sent events consists of, and what ends it. */
export type SentEvents = {
  /** Ends when `mayGoOn` answers false, which it is asked before each frame. */
  readonly frames: (mayGoOn: () => Promise<boolean>) => AsyncGenerator<string, void>;
  /** Ends the pause of `frames`, as the stream may be over. */
  readonly wake: () => void;
  readonly isStillAllowed: () => Promise<boolean>;
  readonly watchCredential: (onChanged: () => void) => () => void;
  readonly closing: AbortSignal;
  readonly times: EventStreamTimes;
  readonly onEnd: () => void;
};

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
export const sentEvents = (source: SentEvents): Readable => {
  const { wake, closing, times, onEnd, isStillAllowed, watchCredential } = source;
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
    wake();
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
  const frames = source.frames(mayGoOn);

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
      closing.removeEventListener("abort", wake);
      wake();
      onEnd();
      done(error);
    },
  });
  closing.addEventListener("abort", wake);
  return stream;
};
