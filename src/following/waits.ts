import type { FastifyBaseLogger } from "fastify";

/** What a part says while it waits for another one, such as a view that is to catch up. A wait is no error. */
export type Waits = {
  /** It waits: called at each try, with what it waits for. */
  waiting(waitsFor: string): void;
  /** It goes on; nothing is said where it did not wait. */
  over(): void;
};

/** Views lag by seconds under load, and by more when the projector fails or folds a view anew. */
export const LONG_WAIT_MS = 30_000;
/** Tries follow each other within seconds: after a longer pause, what waits is something else. */
const SAME_WAIT_MS = 30_000;

const MS_PER_S = 1_000;

/**
 * Debug lines for waits that end by themselves; one warning for a wait that lasts, and a line when that one is over. `now` is
 * monotonic, in ms.
 */
export const waitLines = (
  log: Pick<FastifyBaseLogger, "debug" | "info" | "warn">,
  part: string,
  now: () => number = () => performance.now(),
): Waits => {
  let since: number | null = null;
  let triedAt = 0;
  let isWarned = false;
  const seconds = (from: number): number => Math.round((now() - from) / MS_PER_S);

  return {
    waiting(waitsFor) {
      if (since === null || (!isWarned && now() - triedAt > SAME_WAIT_MS)) since = now();
      triedAt = now();
      const line = { part, waits_for: waitsFor, waits_s: seconds(since) };
      if (isWarned || now() - since < LONG_WAIT_MS) {
        log.debug(line, `${part} waits`);
        return;
      }
      isWarned = true;
      log.warn(line, `${part} has waited for long`);
    },
    over() {
      if (since !== null) {
        const line = { part, waited_s: seconds(since) };
        if (isWarned) log.info(line, `${part} goes on after a long wait`);
        else log.debug(line, `${part} goes on`);
      }
      since = null;
      isWarned = false;
    },
  };
};

/** For a part whose waits nobody is told of. */
export const untold: Waits = { waiting: () => undefined, over: () => undefined };
