import type { Position } from "../../domain/ports/event-log.ts";
import { listening } from "../listeners.ts";
import type { Connection } from "./connection.ts";
import type { Limits } from "./limits.ts";
import { positionOf } from "./positions.ts";

/** Wakes whoever follows the log. Costs nothing while nobody listens, and never keeps the process alive by itself. */
export type AppendedSignal = {
  listen(wake: () => void): () => void;
  /** This process has appended. */
  appended(): void;
  close(): void;
};

/**
 * Others' appends are told by a subscription: it may end at any time and does, and may fall silent. So it is opened again
 * whenever it ends, and a watchdog compares the head of the records with what it told.
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
    /** The last append that is known to have been told; null when that is not known. */
    let told: Position | null = null;

    const open = (): void => {
      reopening = undefined;
      leave = connection.follow({
        opened() {
          // What was appended while it was not open.
          told = null;
          it.wakeSoon();
        },
        appended(at) {
          told = positionOf(at);
          reopenMs = limits.reopenMs;
          it.wakeSoon();
        },
        dropped: reopen,
      });
    };

    const reopen = (): void => {
      // One that is about to be opened is not put off: the watchdog would do so at every look.
      if (isStopped || reopening !== undefined) return;
      leave();
      reopening = setTimeout(open, reopenMs).unref();
      reopenMs = Math.min(2 * reopenMs, limits.reopenMaxMs);
    };

    /** Wakes when the head was not told. `untold` is what was not at the look before: then nothing is told any more. */
    const watch = (untold: Position | null): void => {
      const look = async (): Promise<void> => {
        const newest = await head().catch(() => null);
        if (isStopped) return;
        if (untold !== null && told !== null && told < untold) reopen();
        told ??= newest;
        const isUntold = newest !== null && told !== null && told < newest;
        if (isUntold) it.wakeSoon();
        watch(isUntold ? newest : null);
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
