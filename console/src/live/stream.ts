import { signal } from "@preact/signals";
import { type Broadcast, type Connection, type Frame, frameOf } from "./frames.ts";

const NAME = "countersign-stream";
const ADDRESS = "/v1/stream";
/** From the end of a connection to the next attempt, which comes before the loss is told. */
const RETRY_MS = 3_000;

export const connection = signal<Connection>({ isLive: false, since: Date.now(), nextAt: null });

/** How many changes this tab has heard of, and how often the connection was made or lost. */
export const heard = signal(0);

type Listener = (frame: Frame) => void;
const listeners = new Set<Listener>();

/** Calls back for each frame until the returned function is called. */
export const onFrame = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const receive = (message: Broadcast): void => {
  heard.value += 1;
  if (message.kind === "connection") connection.value = message.connection;
  else if (message.kind === "frame") for (const it of listeners) it(message.frame);
};

/** Holds the connection for all tabs until this tab closes. What was missed between two connections is read anew. */
class Holder {
  readonly #channel: BroadcastChannel;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(channel: BroadcastChannel) {
    this.#channel = channel;
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
    const source = new EventSource(ADDRESS);
    this.#source = source;
    this.#say(false, null);
    source.onopen = () => this.#say(true, null);
    source.onmessage = ({ data }) => {
      const frame = frameOf(String(data));
      if (frame !== null) this.#tell({ kind: "frame", frame });
    };
    source.onerror = () => this.#lost();
  }

  /** The browser would try again by itself, but does not say when. */
  #lost(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#say(false, Date.now() + RETRY_MS);
    this.#timer = setTimeout(() => this.connect(), RETRY_MS);
  }

  #say(isLive: boolean, nextAt: number | null): void {
    const before = connection.value;
    const since = before.isLive === isLive ? before.since : Date.now();
    this.#tell({ kind: "connection", connection: { isLive, since, nextAt } });
  }

  #tell(message: Broadcast): void {
    receive(message);
    this.#channel.postMessage(message);
  }
}

let tryAgain = (): void => undefined;

/** Begins the next attempt now, in whichever tab holds the connection. */
export const tryNow = (): void => tryAgain();

/** One tab holds the stream, because HTTP/1.1 allows few connections; the others hear it over a channel. */
export const followStream = (): void => {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => receive(data));
  channel.postMessage({ kind: "ask" });
  tryAgain = () => channel.postMessage({ kind: "try" });
  void navigator.locks.request(NAME, () => {
    const holder = new Holder(channel);
    tryAgain = () => holder.connect();
    // The lock is given on when this tab closes.
    return new Promise(() => undefined);
  });
};
