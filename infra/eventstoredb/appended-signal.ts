import type { Position } from "../../domain/ports/event-log.ts";
import { type Listeners, listening } from "../listeners.ts";
import type { Connection } from "./connection.ts";
import type { Limits } from "./limits.ts";
import { positionOf } from "./positions.ts";

/** A subscription may silently stop to report, so a watchdog compares the log's head with the last report. */
export const appendedSignal = (
  connection: Connection,
  head: () => Promise<Position | null>,
  limits: Limits,
): Listeners => {
  const hear = (): (() => void) => {
    let isStopped = false;
    let leave: () => void = () => undefined;
    let reopenMs = limits.reopenMs;
    let reopening: NodeJS.Timeout | undefined;
    let watching: NodeJS.Timeout | undefined;
    /** The last position that was reported or looked up; null after an opening, when appends may have been missed. */
    let reported: Position | null = null;

    const open = (): void => {
      reopening = undefined;
      leave = connection.follow({
        opened() {
          reported = null;
          listeners.wakeSoon();
        },
        appended(at) {
          reported = positionOf(at);
          reopenMs = limits.reopenMs;
          listeners.wakeSoon();
        },
        dropped: reopen,
      });
    };

    const reopen = (): void => {
      // The watchdog may call this at each look, which must not postpone a reopening that is already due.
      if (isStopped || reopening !== undefined) return;
      leave();
      reopening = setTimeout(open, reopenMs).unref();
      reopenMs = Math.min(2 * reopenMs, limits.reopenMaxMs);
    };

    /** `missed` is the log's head at the previous look, if the subscription had not reported it; else null. */
    const watch = (missed: Position | null): void => {
      const look = async (): Promise<void> => {
        const newest = await head().catch(() => null);
        if (isStopped) return;
        if (missed !== null && reported !== null && reported < missed) reopen();
        reported ??= newest;
        const isMissed = newest !== null && reported !== null && reported < newest;
        if (isMissed) listeners.wakeSoon();
        watch(isMissed ? newest : null);
      };
      watching = setTimeout(look, limits.watchMs).unref();
    };

    open();
    watch(null);
    return () => {
      isStopped = true;
      clearTimeout(reopening);
      clearTimeout(watching);
      leave();
    };
  };

  const listeners = listening(hear);
  return listeners;
};
