import type { Clock } from "../../domain/ports/clock.ts";
import { LogUnavailable } from "../log-errors.ts";
import { within } from "../within.ts";
import { aheadMs, type ClockLook, clockProblem, isReliable, type Moment, momentOf, setBetween } from "./clock-check.ts";
import type { Limits } from "./limits.ts";

export type ClockWatch = {
  /** Rejects with `LogUnavailable` while this machine's clock differs too much from the server's. */
  check(): Promise<void>;
  close(): void;
};

export type ClockWatchOptions = {
  /** The look at the opening. */
  readonly first: ClockLook | null;
  /** Null if another node looked at the same time. */
  readonly look: () => Promise<ClockLook | null>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "clockLookMs" | "clockTickMs" | "appendTryMs">;
  /** Receives a sentence when the difference becomes too large, and null when the clock is right again. */
  readonly onChange: (problem: string | null) => void;
};

/**
 * Looks at the server's clock at intervals. Between two looks this machine's steady clock shows whether the other was
 * set; a set clock is compared before the next decision. A suspension stops the steady clock, so after one the server
 * confirms the time first.
 */
export const clockWatch = ({ first, look, clock, limits, onChange }: ClockWatchOptions): ClockWatch => {
  let measured: { readonly aheadMs: number; readonly at: Moment } = {
    aheadMs: first === null ? 0 : aheadMs(first),
    at: first?.to ?? momentOf(clock),
  };
  /** The steady time of the last look, successful or not. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let reported: string | null = null;

  const problem = (): string | null => clockProblem(measured.aheadMs + setBetween(measured.at, momentOf(clock)));

  const lookOnce = async (): Promise<void> => {
    try {
      const looked = await within(limits.appendTryMs, "the server does not say what time it is", look());
      if (looked !== null && isReliable(looked)) measured = { aheadMs: aheadMs(looked), at: looked.to };
    } catch {
      // The server is away or busy: the previous result holds.
    }
    lookedAt = performance.now();
  };

  const lookAgain = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = null;
      const found = problem();
      if ((found === null) !== (reported === null)) onChange(found);
      reported = found;
    });
    return looking;
  };

  const isDue = (everyMs: number): boolean => performance.now() - lookedAt >= everyMs;

  const timer = setInterval(() => {
    if (isDue(problem() === null && reported === null ? limits.clockLookMs : 0)) void lookAgain();
  }, limits.clockTickMs).unref();

  return {
    async check() {
      if (problem() === null) return;
      // Another look a moment ago suffices, unless it is still under way.
      if (looking !== null || isDue(limits.clockTickMs) || reported === null) await lookAgain();
      const found = problem();
      if (found !== null) throw new LogUnavailable(found);
    },
    close: () => clearInterval(timer),
  };
};
