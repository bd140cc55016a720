const LOOK_MS = 100;

/** Returns a function that tells how late the event loop is, in ms, and so how long requests wait in sockets unread. */
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
    // The timer may be overdue itself: one turn of the event loop may read from thousands of sockets before any timer runs.
    if (dueAt !== null) return Math.max(lagMs, at - dueAt);
    if (at - lookedAt > LOOK_MS) lagMs = 0;
    dueAt = at + LOOK_MS;
    setTimeout(look, LOOK_MS).unref();
    return lagMs;
  };
};
