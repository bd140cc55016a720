import { BroadcastChannel } from "node:worker_threads";
import { listening } from "../listeners.ts";
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
  /** Null where the file cannot be asked: nobody would catch that here, and whoever follows the log is told when it reads. */
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
