/** How long things may take, in milliseconds. Tests make them shorter. */
export type Limits = {
  /** One try of an append. A healthy server answers in milliseconds, and gives up by itself after 2 s. */
  readonly appendTryMs: number;
  /** A whole append with all its tries: senders of webhooks wait for little more. */
  readonly appendMs: number;
  /** What a conflict is with can be read after so long at the latest: the server gives up a write of which that is not so. */
  readonly visibleMs: number;
  /** A read of which nothing has come for so long is tried again. */
  readonly readIdleMs: number;
  /** After so long a failing read is not tried again. */
  readonly readMs: number;
  /** As `appendMs` and `readMs` while the server cannot be reached: it is then surely down, and it is no use to wait. */
  readonly unreachableMs: number;
  /** How long opening waits for a server that is silent or not ready. */
  readonly openMs: number;
  /** What closing waits for appends that are under way. */
  readonly closeMs: number;
  /** How often the head is compared with what the subscription told. */
  readonly watchMs: number;
  /** How often the server's clock is looked at, which writes a record of some hundred bytes. */
  readonly clockLookMs: number;
  /** How often this machine's clock is checked for having been set; and the server's, while the two differ. */
  readonly clockTickMs: number;
  /** A subscription that was dropped is opened again after this, and after twice as long each time, up to `reopenMaxMs`. */
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

/** What is left of a time that began when it was made. */
export type Deadline = { readonly leftMs: () => number };

export const deadlineIn = (ms: number): Deadline => {
  const end = performance.now() + ms;
  return { leftMs: () => Math.max(end - performance.now(), 0) };
};

/** Between two tries: short at first, as most failures are a connection that was cut. */
const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 500;

/** Waits before the next try, each time twice as long; false, at once, when then no time would be left for it. */
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
