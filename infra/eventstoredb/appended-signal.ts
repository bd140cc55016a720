import type { Position } from "../../domain/ports/event-log.ts";
import { listening } from "../listeners.ts";
import type { Connection } from "./connection.ts";
import type { Limits } from "./limits.ts";
import { positionOf } from "./positions.ts";

/** Wakes the log's followers. Costs nothing without listeners and never keeps the process alive. */
export type AppendedSignal = {
  listen(wake: () => void): () => void;
  appended(): void;
  close(): void;
};

/**
 * A subscription reports other processes' appends. It may end or fall silent at any time, so it is reopened whenever it
 * ends, and a watchdog compares the log's head with its last report.
 */
export const appendedSignal = (
  connection: Connection,
  head: () => Promise<Position | null>,
  limits: Limits,
): AppendedSignal => {
  const hear = (): (() => void) => {
    let isStopped = false;
    let leave: () => void = () => undefined;
    let reopenMs = limits.reopenMs;
    let reopening: NodeJS.Timeout | undefined;
    let watching: NodeJS.Timeout | undefined;
    /** Null if the subscription may have missed appends. */
    let reported: Position | null = null;

    const open = (): void => {
      reopening = undefined;
      leave = connection.follow({
        opened() {
          reported = null;
          it.wakeSoon();
        },
        appended(at) {
          reported = positionOf(at);
          reopenMs = limits.reopenMs;
          it.wakeSoon();
        },
        dropped: reopen,
      });
    };

    const reopen = (): void => {
      // A pending reopening is not put off, as the watchdog would do at every look.
      if (isStopped || reopening !== undefined) return;
      leave();
      reopening = setTimeout(open, reopenMs).unref();
      reopenMs = Math.min(2 * reopenMs, limits.reopenMaxMs);
    };

    /** Wakes if the subscription missed the head; `missed` is the head that it had missed at the previous look. */
    const watch = (missed: Position | null): void => {
      const look = async (): Promise<void> => {
        const newest = await head().catch(() => null);
        if (isStopped) return;
        if (missed !== null && reported !== null && reported < missed) reopen();
        reported ??= newest;
        const isMissed = newest !== null && reported !== null && reported < newest;
        if (isMissed) it.wakeSoon();
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

  const it = listening(hear);
  return { listen: it.listen, appended: it.wakeSoon, close: it.close };
};
