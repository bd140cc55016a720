/** In milliseconds. Tests shorten them. */
export type Limits = {
  /** One try of an append. A healthy server answers in milliseconds and gives up after 2 s. */
  readonly appendTryMs: number;
  /** All tries together: senders of webhooks wait for little more. */
  readonly appendMs: number;
  /** The server gives up a write that takes longer to become readable. */
  readonly visibleMs: number;
  /** The silence after which a read is repeated. */
  readonly readIdleMs: number;
  /** A failing read is not repeated after this. */
  readonly readMs: number;
  /** Replaces `appendMs` and `readMs` while the server is certainly down. */
  readonly unreachableMs: number;
  readonly openMs: number;
  /** How long closing waits for appends under way. */
  readonly closeMs: number;
  /** Between comparisons of the head with the subscription. */
  readonly watchMs: number;
  /** Between looks at the server's clock, each of which writes some hundred bytes. */
  readonly clockLookMs: number;
  /** Between checks whether this machine's clock was set, and between looks while the two differ. */
  readonly clockTickMs: number;
  /** The first pause before a dropped subscription is reopened; it doubles up to `reopenMaxMs`. */
  readonly reopenMs: number;
  readonly reopenMaxMs: number;
};

export const LIMITS: Limits = {
  appendTryMs: 5_000,
  appendMs: 15_000,
  visibleMs: 2_000,
  readIdleMs: 5_000,
  readMs: 15_000,
  unreachableMs: 5_000,
  openMs: 10_000,
  closeMs: 5_000,
  watchMs: 3_000,
  clockLookMs: 60_000,
  clockTickMs: 1_000,
  reopenMs: 100,
  reopenMaxMs: 5_000,
};

export type Deadline = { readonly leftMs: () => number };

export const deadlineIn = (ms: number): Deadline => {
  const end = performance.now() + ms;
  return { leftMs: () => Math.max(end - performance.now(), 0) };
};

/** Most failures are a connection that was cut. */
const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 500;

/** Each pause is twice as long; false, at once, if no time would be left for the next try. */
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
