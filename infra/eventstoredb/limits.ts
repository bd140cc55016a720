export const LIMITS = {
  /** In ms, for one try of an append: a healthy server answers in milliseconds and gives up after 2 s. */
  appendTryMs: 5_000,
  /** In ms, for all tries of an append together, because senders of webhooks wait for little more. */
  appendMs: 15_000,
  visibleMs: 2_000,
  readIdleMs: 5_000,
  readMs: 15_000,
  /** In ms; replaces `appendMs` and `readMs` while no connection can be made. */
  unreachableMs: 5_000,
  openMs: 10_000,
  closeMs: 5_000,
  watchMs: 3_000,
  /** The first pause in ms before followers are woken to look themselves; it doubles while they find nothing. */
  pollMs: 100,
  /** In ms: a subscription is open only after nothing has come for so long, as the server drops it under load. So long a dropped one stays closed. */
  quietMs: 3_000,
  /** The pause in ms between two looks at the server's clock, each of which writes some hundred bytes. */
  clockLookMs: 60_000,
  clockTickMs: 1_000,
};

export type Limits = Readonly<typeof LIMITS>;

export type Deadline = { readonly leftMs: () => number };

export const deadlineIn = (ms: number): Deadline => {
  const end = performance.now() + ms;
  return { leftMs: () => Math.max(end - performance.now(), 0) };
};

const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 500;

/** Each pause is twice as long as the last. Resolves with false, at once, if `leftMs` would leave no time for a try. */
export const pauses = (firstMs = PAUSE_FIRST_MS): ((leftMs: number) => Promise<boolean>) => {
  let ms = firstMs;
  return async (leftMs) => {
    const pauseMs = ms;
    ms = Math.min(2 * ms, PAUSE_MAX_MS);
    if (pauseMs >= leftMs) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return true;
  };
};
