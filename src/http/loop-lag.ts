const LOOK_MS = 100;

/** Returns how late the event loop runs, in ms: the time that requests wait in sockets which were not read yet. */
export const loopLag = (now: () => number = () => performance.now()): (() => number) => {
  let lagMs = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let dueAt: number | null = null;

  const look = (): void => {
    lookedAt = now();
    lagMs = Math.max(0, lookedAt - (dueAt ?? lookedAt));
    dueAt = null;
  };

  return () => {
    const at = now();
    // The timer may be overdue itself: reading from thousands of sockets is one turn of the loop.
    if (dueAt !== null) return Math.max(lagMs, at - dueAt);
    if (at - lookedAt > LOOK_MS) lagMs = 0;
    dueAt = at + LOOK_MS;
    setTimeout(look, LOOK_MS).unref();
    return lagMs;
  };
};
