import type { Position } from "../../domain/ports/event-log.ts";

export type Reached = { readonly view: string; readonly position: Position | null };

export type ReachedPositions = {
  record(reached: readonly Reached[]): void;
  all(): readonly Reached[];
  onReached(listener: (reached: readonly Reached[]) => void): () => void;
  /** Whether all these views reach `position` within the time. Throws for a view that does not exist. */
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
};

type Waiter = { readonly isReached: () => boolean; readonly resolve: (isReached: boolean) => void };

export const reachedPositions = (views: readonly string[]): ReachedPositions => {
  const positions = new Map<string, Position | null>(views.map((view) => [view, null]));
  const listeners = new Set<{ readonly listener: (reached: readonly Reached[]) => void }>();
  const waiters = new Set<Waiter>();

  const isAt = (view: string, position: Position): boolean => {
    const reached = positions.get(view) ?? null;
    return reached !== null && reached >= position;
  };

  return {
    record(reached) {
      for (const { view, position } of reached) positions.set(view, position);
      for (const waiter of waiters) if (waiter.isReached()) waiter.resolve(true);
      for (const { listener } of [...listeners]) listener(reached);
    },
    all: () => [...positions].map(([view, position]) => ({ view, position })),
    onReached(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    waitFor(wanted, position, timeoutMs) {
      const unknown = wanted.find((view) => !positions.has(view));
      if (unknown !== undefined) return Promise.reject(new Error(`no projection keeps the view ${unknown}`));
      const isReached = (): boolean => wanted.every((view) => isAt(view, position));
      if (isReached()) return Promise.resolve(true);
      return new Promise((settle) => {
        const timer = setTimeout(() => waiter.resolve(false), timeoutMs);
        const waiter: Waiter = {
          isReached,
          resolve(reached) {
            clearTimeout(timer);
            waiters.delete(waiter);
            settle(reached);
          },
        };
        waiters.add(waiter);
      });
    },
  };
};
