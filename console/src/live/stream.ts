import { signal } from "@preact/signals";
import { ANYTHING, type Broadcast, type Connection, type Frame, frameOf } from "./frames.ts";

const NAME = "countersign-stream";
const ADDRESS = "/v1/stream";
/** From the end of a connection to the next attempt, which comes before the loss is told. */
const RETRY_MS = 3_000;

export const connection = signal<Connection>({
  isLive: false,
  since: Date.now(),
  nextAt: null,
  hasGap: true,
});

type Listener = (frame: Frame) => void;
const listeners = new Set<Listener>();

/** Calls back for each frame until the returned function is called. */
export const onFrame = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

let frames = 0;
/** Grows with each change that this tab hears of, and whenever it may have missed some. */
export const heard = (): number => frames;

const hear = (frame: Frame): void => {
  frames += 1;
  for (const it of listeners) it(frame);
};

let hasBeenLive = false;

/** `isOwn`: this tab holds the connection, which begins after what its page has read, and not after what others have. */
const receive = (message: Broadcast, isOwn = false): void => {
  if (message.kind === "frame") hear(message.frame);
  if (message.kind !== "connection") return;
  const before = connection.value;
  connection.value = message.connection;
  const { isLive, hasGap } = connection.value;
  if (isLive && !before.isLive && (hasGap || !(isOwn || hasBeenLive))) hear(ANYTHING);
  hasBeenLive ||= isLive;
};

/**
 * Holds the connection for all tabs until this tab closes. A connection goes on after the last, or after what the page has
 * read; what may have been missed between is read anew.
 */
class Holder {
  readonly #channel: BroadcastChannel;
  /** The position after which the next connection begins; null if that is unknown. */
  #after: string | null;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(channel: BroadcastChannel, after: string | null) {
    this.#channel = channel;
    this.#after = after;
    // A connection over a network that is gone does not end by itself.
    addEventListener("offline", () => this.#lost());
    addEventListener("online", () => this.connect());
    channel.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => {
      if (data.kind === "ask") channel.postMessage({ kind: "connection", connection: connection.value });
      if (data.kind === "try") this.connect();
    });
    this.connect();
  }

  connect(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    const after = this.#after;
    // If the service refuses it, as after its log was moved, the next attempt does without.
    this.#after = null;
    const source = new EventSource(after === null ? ADDRESS : `${ADDRESS}?after=${encodeURIComponent(after)}`);
    this.#source = source;
    this.#say(false);
    source.onopen = () => {
      this.#after = after;
      this.#say(true, { hasGap: after === null });
    };
    source.onmessage = ({ data, lastEventId }) => {
      if (lastEventId !== "") this.#after = lastEventId;
      const frame = frameOf(String(data));
      if (frame !== null) this.#tell({ kind: "frame", frame });
    };
    source.onerror = () => this.#lost();
  }

  /** The browser would try again by itself, but does not say when. */
  #lost(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#say(false, { nextAt: Date.now() + RETRY_MS });
    this.#timer = setTimeout(() => this.connect(), RETRY_MS);
  }

  #say(isLive: boolean, { nextAt = null, hasGap = true }: Partial<Connection> = {}): void {
    const before = connection.value;
    const since = before.isLive === isLive ? before.since : Date.now();
    this.#tell({ kind: "connection", connection: { isLive, since, nextAt, hasGap } });
  }

  #tell(message: Broadcast): void {
    receive(message, true);
    this.#channel.postMessage(message);
  }
}

let tryAgain = (): void => undefined;

/** Begins the next attempt now, in whichever tab holds the connection. */
export const tryNow = (): void => tryAgain();

/**
 * One tab holds the stream, because HTTP/1.1 allows few connections; the others hear it over a channel. The first begins
 * when the page's first reads are answered, after the position that `readUpTo` then gives.
 */
export const followStream = (readUpTo: () => Promise<string | null>): void => {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => receive(data));
  connection.value = { ...connection.value, since: Date.now() };
  channel.postMessage({ kind: "ask" });
  tryAgain = () => channel.postMessage({ kind: "try" });
  void navigator.locks.request(NAME, async () => {
    // Where another tab held it, this one has heard what it told, but not what came since.
    const holder = new Holder(channel, hasBeenLive ? null : await readUpTo());
    tryAgain = () => holder.connect();
    // The lock is given on when this tab closes.
    return new Promise(() => undefined);
  });
};
