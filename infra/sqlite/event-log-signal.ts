import { BroadcastChannel } from "node:worker_threads";
import { type Listeners, listening } from "../listeners.ts";
import { channelOf } from "./event-log-protocol.ts";

/** Milliseconds after which a commit of another process is noticed; those of this process are signalled at once. */
const OTHER_PROCESSES_MS = 200;

export const appendedSignal = (path: string, dataVersion: () => number): Listeners => {
  const versionNow = (): number | null => {
    try {
      return dataVersion();
    } catch {
      return null;
    }
  };
  const hear = (): (() => void) => {
    const channel = new BroadcastChannel(channelOf(path));
    channel.onmessage = () => listeners.wakeSoon();
    channel.unref();
    let seen = versionNow();
    const timer = setInterval(() => {
      const version = versionNow();
      if (version !== seen) listeners.wakeSoon();
      seen = version;
    }, OTHER_PROCESSES_MS);
    timer.unref();
    return () => {
      clearInterval(timer);
      channel.close();
    };
  };

  const listeners = listening(hear);
  return listeners;
};
