import type { Position } from "../../domain/ports/event-log.ts";

export type ViewPosition = { readonly view: string; readonly position: Position | null };

export type ViewPositions = {
  record(reached: readonly ViewPosition[]): void;
  all(): readonly ViewPosition[];
  /** The position that every view has reached; null while one has reached none. */
  lowest(): Position | null;
  onReached(listener: (reached: readonly ViewPosition[]) => void): () => void;
  /** False if one of the views has not reached `position` in time. Throws for the name of an unknown view. */
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
};

type Waiter = { readonly isReached: () => boolean; readonly resolve: (isReached: boolean) => void };

export const lowestOf = (reached: Iterable<Position | null>): Position | null => {
  let lowest: Position | null = null;
  for (const position of reached) {
    if (position === null) return null;
    if (lowest === null || position < lowest) lowest = position;
  }
  return lowest;
};

/** `hurry` is called while a position is waited for that is not reached. */
export const viewPositions = (views: readonly string[], hurry: () => void = () => undefined): ViewPositions => {
  const positions = new Map<string, Position | null>(views.map((view) => [view, null]));
  const listeners = new Set<{ readonly listener: (reached: readonly ViewPosition[]) => void }>();
  const waiters = new Set<Waiter>();

  const isAt = (view: string, position: Position): boolean => {
    const reached = positions.get(view) ?? null;
    return reached !== null && reached >= position;
  };

  return {
    record(reached) {
      for (const { view, position } of reached) positions.set(view, position);
      for (const waiter of waiters) if (waiter.isReached()) waiter.resolve(true);
      // The page that was just folded may have been read before what the others wait for was appended.
      if (waiters.size > 0) hurry();
      for (const { listener } of [...listeners]) listener(reached);
    },
    all: () => [...positions].map(([view, position]) => ({ view, position })),
    lowest: () => lowestOf(positions.values()),
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
        hurry();
      });
    },
  };
};
