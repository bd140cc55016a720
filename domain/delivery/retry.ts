/** Spreads the retries of many events that failed together. */
const JITTER = 0.2;

type FailedAttempt = {
  /** Counts the attempts of the schedule, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly retryAfterMs: number | null;
};

/** In ms since 1970; null after the last attempt. A later Retry-After is honoured. `random` is in [0, 1). */
export const nextAttemptAt = (
  scheduleS: readonly number[],
  { number, atMs, retryAfterMs }: FailedAttempt,
  random: number,
): number | null => {
  const delayS = scheduleS[number - 1];
  if (delayS === undefined) return null;
  const jittered = delayS * 1_000 * (1 - JITTER + 2 * JITTER * random);
  return Math.ceil(atMs + Math.max(jittered, retryAfterMs ?? 0));
};
