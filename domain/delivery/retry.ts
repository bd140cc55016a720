/** Spreads the retries of many events that failed together. */
const JITTER = 0.2;

/**
 * When to try again, in ms since 1970, after attempt `number` (1-based) has failed; null after the last. A later Retry-
 * After is honoured. `random` in [0, 1).
 */
export const nextAttemptAt = (
  scheduleS: readonly number[],
  number: number,
  atMs: number,
  random: number,
  retryAfterMs: number | null,
): number | null => {
  const delayS = scheduleS[number - 1];
  if (delayS === undefined) return null;
  const jittered = delayS * 1_000 * (1 - JITTER + 2 * JITTER * random);
  return Math.ceil(atMs + Math.max(jittered, retryAfterMs ?? 0));
};
