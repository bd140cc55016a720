import { Shares } from "./shares.ts";

/**
 * So many at once, in shares. Who comes then waits, no longer than it says: the parties take turns, and of one party the
 * first to come is the first to enter.
 */
export type Window = {
  /** Whether there was a place within `waitMs`; who got one gives it back. */
  enter(party: string, waitMs: number): Promise<boolean>;
  leave(party: string): void;
};

/** `partyMax`: places that one party may have in any case. */
export const windowOf = (size: number, partyMax = size): Window => {
  const places = new Shares(size, partyMax);
  /** By party, in the order of their next turns. */
  const waiting = new Map<string, Set<() => void>>();

  /** False: nobody waits who may enter. */
  const nextTurn = (): boolean => {
    for (const [party, queue] of waiting) {
      const [next] = queue;
      if (next === undefined || !places.take([party], 1)) continue;
      queue.delete(next);
      waiting.delete(party);
      if (queue.size > 0) waiting.set(party, queue);
      next();
      return true;
    }
    return false;
  };

  return {
    enter(party, waitMs) {
      if (!waiting.has(party) && places.take([party], 1)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const queue = waiting.get(party) ?? new Set();
        waiting.set(party, queue);
        const timer = setTimeout(() => {
          queue.delete(taken);
          if (queue.size === 0 && waiting.get(party) === queue) waiting.delete(party);
          resolve(false);
        }, waitMs);
        const taken = (): void => {
          clearTimeout(timer);
          resolve(true);
        };
        queue.add(taken);
      });
    },
    leave(party) {
      places.give([party], 1);
      while (nextTurn());
    },
  };
};
