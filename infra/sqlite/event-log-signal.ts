import { BroadcastChannel } from "node:worker_threads";
import { listening } from "../listeners.ts";
import { channelOf } from "./event-log-protocol.ts";

export type AppendedSignal = {
  listen(wake: () => void): () => void;
  close(): void;
};

/** Milliseconds after which a commit of another process is noticed; those of this process are signalled at once. */
const OTHER_PROCESSES_MS = 200;

export const appendedSignal = (path: string, dataVersion: () => number): AppendedSignal => {
  const versionNow = (): number | null => {
    try {
      return dataVersion();
    } catch {
      return null;
    }
  };
  const hear = (): (() => void) => {
    const channel = new BroadcastChannel(channelOf(path));
    channel.onmessage = () => it.wakeSoon();
    channel.unref();
    let seen = versionNow();
    const timer = setInterval(() => {
      const version = versionNow();
      if (version !== seen) it.wakeSoon();
      seen = version;
    }, OTHER_PROCESSES_MS);
    timer.unref();
    return () => {
      clearInterval(timer);
      channel.close();
    };
  };

  const it = listening(hear);
  return { listen: it.listen, close: it.close };
};
