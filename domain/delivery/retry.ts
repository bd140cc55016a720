/** Each delay is changed by up to this part at random, so that events which failed together are not sent together. */
const JITTER = 0.2;

type FailedAttempt = {
  /** The number of the attempt in the schedule, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly retryAfterMs: number | null;
};

/** In ms since 1970; null if the schedule has ended. A longer Retry-After is honoured. `random` is in [0, 1). */
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
