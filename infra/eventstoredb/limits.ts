/** How long things may take, in milliseconds. Tests make them shorter. */
export type Limits = {
  /** One try of an append. A healthy server answers in milliseconds, and gives up by itself after 2 s. */
  readonly appendTryMs: number;
  /** A whole append with all its tries: senders of webhooks wait for little more. */
  readonly appendMs: number;
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
  /** A subscription that was dropped is opened again after this, and after twice as long each time, up to `reopenMaxMs`. */
  readonly reopenMs: number;
  readonly reopenMaxMs: number;
};

export const LIMITS: Limits = {
  appendTryMs: 5_000,
  appendMs: 15_000,
  readIdleMs: 5_000,
  readMs: 15_000,
  unreachableMs: 5_000,
  openMs: 10_000,
  closeMs: 5_000,
  watchMs: 3_000,
  reopenMs: 100,
  reopenMaxMs: 5_000,
};

/** Between two tries: short at first, as most failures are a connection that was cut. */
const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 500;

/** The pauses between tries, each twice as long as the one before. */
export const pauses = (): (() => Promise<void>) => {
  let ms = PAUSE_FIRST_MS;
  return () => {
    const pauseMs = ms;
    ms = Math.min(2 * ms, PAUSE_MAX_MS);
    return new Promise((resolve) => setTimeout(resolve, pauseMs));
  };
};
