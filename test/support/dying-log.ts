import type { EventLog } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";

/** A process that ends once it has written so often. Another one that ends before its next write leaves the same log. */
export const dyingAfter = (log: EventLog, writes: number) => {
  let left = writes;
  let isDead = false;
  const alive = (): void => {
    if (isDead) throw new LogUnavailable("the process is gone");
  };
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    isDead ||= left === 0;
    alive();
    left -= 1;
    return work();
  };
  const dying: EventLog = {
    ...log,
    append: (...of) => write(() => log.append(...of)),
    erase: (...of) => write(() => log.erase(...of)),
    read: async (...of) => alive() ?? log.read(...of),
    last: async (...of) => alive() ?? log.last(...of),
    readTypes: async (...of) => alive() ?? log.readTypes(...of),
  };
  return { log: dying, isDead: () => isDead };
};

/** False when the process has died. */
export const survived = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof LogUnavailable) return false;
      throw error;
    },
  );
