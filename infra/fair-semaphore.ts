import { Shares } from "./shares.ts";

/** Waiting parties take turns, so that a party with many callers cannot shut out the others. */
export type FairSemaphore = {
  /** True if a place is free; the caller then has to leave. */
  tryEnter(party: string): boolean;
  /** Resolves with false if no place was free within `waitMs`; after true the caller has to leave. */
  enter(party: string, waitMs: number): Promise<boolean>;
  leave(party: string): void;
};

export const fairSemaphore = (size: number, partyMax = size): FairSemaphore => {
  const places = new Shares(size, partyMax);
  const waiting = new Map<string, Set<() => void>>();

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

  const tryEnter = (party: string): boolean => !waiting.has(party) && places.take([party], 1);

  return {
    tryEnter,
    enter(party, waitMs) {
      if (tryEnter(party)) return Promise.resolve(true);
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
