/**
 * By how much the clocks of a node and of the log's server may differ: leases of 15 s and more and the sliding minute of a
 * rate are measured by the node's, and shortened by as much as those of two nodes differ.
 */
const DIFFERENCE_MS_MAX = 5_000;
/** A look at the server's clock that takes longer says too little. */
export const LOOK_MS_MAX = 1_000;
/** The clocks of two nodes differ by no more: each is compared with the server's. */
export const CLOCKS_APART_MS_MAX = 2 * (DIFFERENCE_MS_MAX + LOOK_MS_MAX);

/** Times of this machine between which the server has written something. */
export type Between = { readonly fromMs: number; readonly toMs: number };

/** How far this machine's clock is ahead, at least: what was under way cannot be told from a difference. */
const aheadMs = (writtenMs: number, { fromMs, toMs }: Between): number => {
  if (writtenMs < fromMs) return fromMs - writtenMs;
  return writtenMs > toMs ? toMs - writtenMs : 0;
};

/** Throws a sentence when the time at which the server says that it wrote something cannot be. */
export const checkClock = (writtenMs: number, between: Between): void => {
  const ms = aheadMs(writtenMs, between);
  if (Math.abs(ms) <= DIFFERENCE_MS_MAX) return;
  const differs = `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  throw new Error(
    `this machine's clock is ${differs} the server's, of which ${DIFFERENCE_MS_MAX / 1_000} s are allowed: ` +
      "set the clocks of both (NTP), as leases and rates are measured by them",
  );
};
