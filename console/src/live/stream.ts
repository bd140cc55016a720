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

type Holder = { readonly connect: () => void; readonly lost: () => void; readonly end: () => void };

/**
 * Holds the connection for all tabs until this tab closes, or another takes it. A connection goes on after the last, or
 * after what the page has read (`after`; null if that is unknown); what may have been missed between is read anew.
 */
const holdStream = (tell: (message: Broadcast) => void, after: string | null): Holder => {
  let next = after;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (isLive: boolean, nextAt: number | null = null, hasGap = true): void => {
    const before = connection.value;
    const since = before.isLive === isLive ? before.since : Date.now();
    tell({ kind: "connection", connection: { isLive, since, nextAt, hasGap } });
  };
  const end = (): void => {
    clearTimeout(timer);
    source?.close();
  };
  const connect = (): void => {
    end();
    const from = next;
    // If the service refuses it, as after its log was moved, the next attempt does without.
    next = null;
    source = new EventSource(from === null ? ADDRESS : `${ADDRESS}?after=${encodeURIComponent(from)}`);
    say(false);
    source.onopen = () => {
      next = from;
      say(true, null, from === null);
    };
    source.onmessage = ({ data, lastEventId }) => {
      if (lastEventId !== "") next = lastEventId;
      const frame = frameOf(String(data));
      if (frame !== null) tell({ kind: "frame", frame });
    };
    source.onerror = lost;
  };
  // The browser would try again by itself, but does not say when.
  const lost = (): void => {
    end();
    say(false, Date.now() + RETRY_MS);
    timer = setTimeout(connect, RETRY_MS);
  };
  connect();
  return { connect, lost, end };
};

let tryAgain = (): void => undefined;

/** Begins the next attempt now, in whichever tab holds the connection. */
export const tryNow = (): void => tryAgain();

/**
 * A tab without the connection asks this often who has it. If so many asks in a row get no answer by the next interval, it
 * takes the connection.
 */
const ASK_MS = 5_000;
const UNANSWERED_MAX = 2;

/**
 * One tab holds the stream, because HTTP/1.1 allows few connections; the others hear it over a channel. The first begins
 * when the page's first reads are answered, after the position that `readUpTo` then gives.
 */
export const followStream = (readUpTo: () => Promise<string | null>): void => {
  const channel = new BroadcastChannel(NAME);
  const say = (message: Broadcast): void => channel.postMessage(message);
  const tell = (message: Broadcast): void => {
    receive(message, true);
    say(message);
  };
  let holder: Holder | null = null;
  let unanswered = 0;
  channel.onmessage = ({ data }: MessageEvent<Broadcast>) => {
    if (data.kind === "ask" && holder !== null) say({ kind: "connection", connection: connection.value });
    if (data.kind === "try") holder?.connect();
    if (data.kind === "connection") unanswered = 0;
    receive(data);
  };
  connection.value = { ...connection.value, since: Date.now() };
  tryAgain = () => (holder === null ? say({ kind: "try" }) : holder.connect());
  // A connection over a network that is gone does not end by itself.
  addEventListener("offline", () => holder?.lost());
  addEventListener("online", () => holder?.connect());
  // The lock passes on when this tab closes or another steals it. A tab that loses it waits again: with a new request, or, if
  // it had stolen the lock, with its first one, which still waits.
  const want = (steal: boolean): void => {
    let isHeld = true;
    const hold = async (): Promise<never> => {
      // Where another tab held it, this one has heard what it told, but not what came since. After a theft the other tabs may
      // have missed changes as well, and they too read anew.
      const after = steal || hasBeenLive ? null : await readUpTo();
      if (isHeld) holder = holdStream(tell, after);
      return new Promise(() => undefined);
    };
    navigator.locks.request(NAME, { steal }, hold).catch(() => {
      isHeld = false;
      holder?.end();
      holder = null;
      if (!steal) want(false);
    });
  };
  say({ kind: "ask" });
  want(false);
  // Chromium was seen to give nobody the lock of a page that was left, and a tab that hangs keeps it.
  setInterval(() => {
    if (holder !== null) return;
    const isAsked = unanswered < UNANSWERED_MAX;
    unanswered = isAsked ? unanswered + 1 : 0;
    if (isAsked) say({ kind: "ask" });
    else want(true);
  }, ASK_MS);
};
