import { BroadcastChannel } from "node:worker_threads";
import { channelOf } from "./event-log-protocol.ts";

/** Wakes whoever follows the log. Costs nothing while nobody listens, and never keeps the process alive. */
export type AppendedSignal = {
  listen(wake: () => void): () => void;
  close(): void;
};

/** How late a commit of another process may be noticed; those of this process are heard at once. */
const OTHER_PROCESSES_MS = 200;

/** `dataVersion` changes with every commit to the file, whoever made it. */
export const appendedSignal = (path: string, dataVersion: () => number): AppendedSignal => {
  // Wrapped, so that the same function may listen twice.
  const listeners = new Set<{ readonly wake: () => void }>();
  let stopHearing: (() => void) | null = null;
  let isDue = false;

  const wakeAll = (): void => {
    isDue = false;
    for (const { wake } of [...listeners]) wake();
  };

  /** However many commits one turn of the event loop tells of, it wakes once. */
  const wakeSoon = (): void => {
    if (isDue) return;
    isDue = true;
    setImmediate(wakeAll);
  };

  const hear = (): (() => void) => {
    const channel = new BroadcastChannel(channelOf(path));
    channel.onmessage = wakeSoon;
    channel.unref();
    let seen = dataVersion();
    const timer = setInterval(() => {
      const version = dataVersion();
      if (version !== seen) wakeSoon();
      seen = version;
    }, OTHER_PROCESSES_MS);
    timer.unref();
    return () => {
      clearInterval(timer);
      channel.close();
    };
  };

  const stop = (): void => {
    stopHearing?.();
    stopHearing = null;
  };

  return {
    listen(wake) {
      const listener = { wake };
      listeners.add(listener);
      stopHearing ??= hear();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close() {
      listeners.clear();
      stop();
    },
  };
};
