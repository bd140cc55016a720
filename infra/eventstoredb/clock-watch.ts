import type { Clock } from "../../domain/ports/clock.ts";
import { LogUnavailable } from "../log-errors.ts";
import { withTimeout } from "../with-timeout.ts";
import { aheadMs, type ClockLook, clockProblem, isReliable, type Moment, momentOf, setBetween } from "./clock-check.ts";
import type { Limits } from "./limits.ts";

export type ClockWatch = {
  check(): Promise<void>;
  close(): void;
};

export type ClockWatchOptions = {
  readonly first: ClockLook | null;
  readonly look: () => Promise<ClockLook | null>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "clockLookMs" | "clockTickMs" | "appendTryMs">;
  readonly onChange: (problem: string | null) => void;
};

/**
 * Compares this machine's clock with the server's now and then. Meanwhile a steady clock shows whether this machine's
 * clock was set or the machine suspended; then the server is asked before the next append.
 */
export const clockWatch = ({ first, look, clock, limits, onChange }: ClockWatchOptions): ClockWatch => {
  let measured: { readonly aheadMs: number; readonly at: Moment } = {
    aheadMs: first === null ? 0 : aheadMs(first),
    at: first?.to ?? momentOf(clock),
  };
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let reported: string | null = null;

  const problem = (): string | null => clockProblem(measured.aheadMs + setBetween(measured.at, momentOf(clock)));

  const lookOnce = async (): Promise<void> => {
    try {
      const looked = await withTimeout(limits.appendTryMs, "the server does not say what time it is", look());
      if (looked !== null && isReliable(looked)) measured = { aheadMs: aheadMs(looked), at: looked.to };
    } catch {}
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
      if (looking !== null || isDue(limits.clockTickMs) || reported === null) await lookAgain();
      const found = problem();
      if (found !== null) throw new LogUnavailable(found);
    },
    close: () => clearInterval(timer),
  };
};
