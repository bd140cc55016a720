import type { Clock } from "../../domain/ports/clock.ts";
import { LogUnavailable } from "../log-errors.ts";
import { within } from "../within.ts";
import { aheadMs, type ClockLook, clockProblem, isReliable, type Moment, momentOf, setBetween } from "./clock-check.ts";
import type { Limits } from "./limits.ts";

/** Sees to it that nothing is decided by a clock that is not the server's. */
export type ClockWatch = {
  /** Rejects with `LogUnavailable` while this machine's clock differs from the server's by more than is allowed. */
  check(): Promise<void>;
  close(): void;
};

export type ClockWatchOptions = {
  /** That of the opening. */
  readonly first: ClockLook | null;
  /** Null when another node's look came between: then it is tried again. */
  readonly look: () => Promise<ClockLook | null>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "clockLookMs" | "clockTickMs" | "appendTryMs">;
  /** Told when it begins to differ, with a sentence that says by how much, and with null when it is right again. */
  readonly onChange: (problem: string | null) => void;
};

/**
 * The server's clock is looked at now and then. Between two looks the difference can only change by what this machine's clock
 * was set, which its steady clock shows at any moment and without asking: both drift far less than is allowed. So a clock that
 * was set is noticed before anything is decided by it, and asked about at once; a machine that was suspended, whose steady
 * clock stood still, goes on as soon as the server has confirmed the time.
 */
export const clockWatch = ({ first, look, clock, limits, onChange }: ClockWatchOptions): ClockWatch => {
  let known: { readonly aheadMs: number; readonly at: Moment } = {
    aheadMs: first === null ? 0 : aheadMs(first),
    at: first?.to ?? momentOf(clock),
  };
  /** Steady: when the server's clock was last looked at, whatever came of it. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let told: string | null = null;

  const problem = (): string | null => clockProblem(known.aheadMs + setBetween(known.at, momentOf(clock)));

  const lookOnce = async (): Promise<void> => {
    try {
      const looked = await within(limits.appendTryMs, "the server does not say what time it is", look());
      if (looked !== null && isReliable(looked)) known = { aheadMs: aheadMs(looked), at: looked.to };
    } catch {
      // The server is away or busy: what was known before still holds.
    }
    lookedAt = performance.now();
  };

  const lookAgain = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = null;
      const found = problem();
      if ((found === null) !== (told === null)) onChange(found);
      told = found;
    });
    return looking;
  };

  const isDue = (everyMs: number): boolean => performance.now() - lookedAt >= everyMs;

  const timer = setInterval(() => {
    if (isDue(problem() === null && told === null ? limits.clockLookMs : 0)) void lookAgain();
  }, limits.clockTickMs).unref();

  return {
    async check() {
      if (problem() === null) return;
      // A moment ago it was asked already, unless that look is still under way.
      if (looking !== null || isDue(limits.clockTickMs) || told === null) await lookAgain();
      const found = problem();
      if (found !== null) throw new LogUnavailable(found);
    },
    close: () => clearInterval(timer),
  };
};
