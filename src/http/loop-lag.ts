/** Between two looks. Only while somebody asks: an idle process is not woken. */
const LOOK_MS = 100;

/**
 * How late the event loop runs, in ms: how long what has come waits before anybody sees it, in sockets that nobody has
 * counted yet. To be asked for each request.
 */
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
    // Also when the timer has not come to its turn: reading from thousands of sockets is one turn.
    if (dueAt !== null) return Math.max(lagMs, at - dueAt);
    if (at - lookedAt > LOOK_MS) lagMs = 0;
    dueAt = at + LOOK_MS;
    setTimeout(look, LOOK_MS).unref();
    return lagMs;
  };
};
