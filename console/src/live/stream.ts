import { signal } from "@preact/signals";
import { type Broadcast, type Connection, type Frame, frameOf } from "./frames.ts";

const NAME = "countersign-stream";
const ADDRESS = "/v1/stream";
/** After a refusal; an interrupted connection is taken up by the browser itself. */
const RETRY_MS = 4_000;

export const connection = signal<Connection>({ isLive: false, since: Date.now() });

type Listener = (frame: Frame) => void;
const listeners = new Set<Listener>();

/** Calls back for each frame until the returned function is called. */
export const onFrame = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const receive = (message: Broadcast): void => {
  if (message.kind === "connection") connection.value = message.connection;
  else if (message.kind === "frame") for (const it of listeners) it(message.frame);
};

/** Holds the connection for all tabs until this tab closes. */
const hold = (channel: BroadcastChannel): void => {
  const tell = (message: Broadcast): void => {
    receive(message);
    channel.postMessage(message);
  };
  const say = (isLive: boolean): void => {
    if (connection.value.isLive !== isLive) tell({ kind: "connection", connection: { isLive, since: Date.now() } });
  };
  let open: EventSource | null = null;
  const connect = (): void => {
    open?.close();
    const source = new EventSource(ADDRESS);
    open = source;
    source.onopen = () => say(true);
    source.onmessage = ({ data }) => {
      const frame = frameOf(String(data));
      if (frame !== null) tell({ kind: "frame", frame });
    };
    source.onerror = () => {
      say(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
    };
  };
  // A connection over a network that is gone does not end by itself; once it is back, the lists are read anew.
  addEventListener("offline", () => {
    open?.close();
    say(false);
  });
  addEventListener("online", connect);
  channel.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => {
    if (data.kind === "ask") channel.postMessage({ kind: "connection", connection: connection.value });
  });
  connect();
};

/** One tab holds the stream, because HTTP/1.1 allows few connections; the others hear it over a channel. */
export const followStream = (): void => {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener("message", ({ data }: MessageEvent<Broadcast>) => receive(data));
  channel.postMessage({ kind: "ask" });
  void navigator.locks.request(NAME, () => {
    hold(channel);
    // The lock is given on when this tab closes.
    return new Promise(() => undefined);
  });
};
