import { BroadcastChannel } from "node:worker_threads";
import { type Listeners, listening } from "../listeners.ts";
import { channelOf } from "./event-log-protocol.ts";

/** Milliseconds after which a commit of another process is noticed; those of this process are signalled at once. */
const OTHER_PROCESSES_MS = 200;
/** The same after so many looks that have found no commit of any process, because each look wakes an idle process. */
const QUIET_MS = 1_000;
const QUIET_LOOKS = 15;

export const appendedSignal = (
  path: string,
  dataVersion: () => number,
  // Only tests give other times.
  { soonMs = OTHER_PROCESSES_MS, quietMs = QUIET_MS, quietLooks = QUIET_LOOKS } = {},
): Listeners => {
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
    let looks = 0;
    let timer: NodeJS.Timeout;
    const look = (): void => {
      const version = versionNow();
      looks = version === seen ? looks + 1 : 0;
      if (version !== seen) listeners.wakeSoon();
      seen = version;
      timer = setTimeout(look, looks < quietLooks ? soonMs : quietMs).unref();
    };
    timer = setTimeout(look, soonMs).unref();
    return () => {
      clearTimeout(timer);
      channel.close();
    };
  };

  const listeners = listening(hear);
  return listeners;
};
