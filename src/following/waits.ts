import type { FastifyBaseLogger } from "fastify";

/** Is told that a part waits for another one, such as a view that has to catch up. A wait is no error. */
export type Waits = {
  waiting(waitsFor: string): void;
  over(): void;
};

export const LONG_WAIT_MS = 30_000;
const SAME_WAIT_MS = 30_000;

const MS_PER_S = 1_000;

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

export const silentWaits: Waits = { waiting: () => undefined, over: () => undefined };
