import { Shares } from "./shares.ts";

/** Lets `size` callers in at once, in shares; parties take turns, each party's callers in their order. */
export type Window = {
  /** Resolves with false after `waitMs` without a place; a caller that got one has to leave. */
  enter(party: string, waitMs: number): Promise<boolean>;
  leave(party: string): void;
};

/** `partyMax`: an upper bound for each party. */
export const windowOf = (size: number, partyMax = size): Window => {
  const places = new Shares(size, partyMax);
  /** By party, in the order of their next turns. */
  const waiting = new Map<string, Set<() => void>>();

  /** False if no waiting party has room in its share. */
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
