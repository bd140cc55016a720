/** The interval of the measurement, which stops while there are no requests. */
const LOOK_MS = 100;

/** How late the event loop runs, in ms: how long requests wait in sockets that were not read yet. Call it for each request. */
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
