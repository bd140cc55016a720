import type { Position } from "../../domain/ports/event-log.ts";
import { type Listeners, listening } from "../listeners.ts";
import type { Connection } from "./connection.ts";
import type { Limits } from "./limits.ts";
import { positionOf } from "./positions.ts";

export type AppendedSignal = Listeners & {
  /** Records up to `upTo` were read or appended. While that goes on, followers poll and no subscription is open. */
  saw(upTo: Position): void;
};

/**
 * While nothing is appended, a subscription tells of the first record. It is then closed, because the server would send
 * each record once more, and drops subscriptions under load; the followers poll until it is quiet again. A subscription
 * may silently stop to report, so a watchdog compares the log's head with the last report.
 */
export const appendedSignal = (
  connection: Pick<Connection, "follow">,
  head: () => Promise<Position | null>,
  limits: Limits,
): AppendedSignal => {
  let seen: Position | null = null;
  let sawMore = (): void => undefined;

  const hear = (): (() => void) => {
    let isStopped = false;
    let leave: (() => void) | null = null;
    let watching: NodeJS.Timeout | undefined;
    let polling: NodeJS.Timeout | undefined;
    let seenAt = performance.now();
    /** The last position that was reported or seen; null before the first. */
    let reported: Position | null = null;

    const close = (): void => {
      leave?.();
      leave = null;
    };

    const open = (): void => {
      leave = connection.follow({
        opened() {
          reported = seen;
          listeners.wakeSoon();
        },
        appended(at) {
          reported = positionOf(at);
          listeners.wakeSoon();
          stayClosed();
        },
        dropped: () => stayClosed(),
      });
    };

    const poll = (ms: number): void => {
      polling = setTimeout(() => {
        polling = undefined;
        if (performance.now() - seenAt >= limits.quietMs) return open();
        poll(2 * ms);
        listeners.wakeSoon();
      }, ms).unref();
    };

    const stayClosed = (): void => {
      seenAt = performance.now();
      close();
      clearTimeout(polling);
      poll(limits.pollMs);
    };

    /** `missed` is the log's head at the previous look, if the subscription had not reported it; else null. */
    const watch = (missed: Position | null): void => {
      const look = async (): Promise<void> => {
        // While the followers poll, they would see what a subscription misses.
        const newest = polling === undefined ? await head().catch(() => null) : null;
        if (isStopped) return;
        if (missed !== null && reported !== null && reported < missed) stayClosed();
        reported ??= newest;
        const isMissed = newest !== null && reported !== null && reported < newest;
        if (isMissed) listeners.wakeSoon();
        watch(isMissed ? newest : null);
      };
      watching = setTimeout(look, limits.watchMs).unref();
    };

    sawMore = stayClosed;
    open();
    watch(null);
    return () => {
      isStopped = true;
      sawMore = () => undefined;
      for (const timer of [watching, polling]) clearTimeout(timer);
      close();
    };
  };

  const listeners = listening(hear);
  return {
    ...listeners,
    saw(upTo) {
      // Whoever reads older records, as a view that catches up, must not delay the polls for new ones.
      if (seen !== null && upTo <= seen) return;
      seen = upTo;
      sawMore();
    },
  };
};
