import { fairSemaphore } from "../../infra/fair-semaphore.ts";
import { type Attempts, network, SLOW_LOGIN_MS } from "./rate-limit.ts";

type Guess = { readonly address: string; readonly ip: string };

type Counted<T> = { readonly ok: true; readonly result: T } | { readonly ok: false; readonly retryAfterS: number };

export type PasswordGuesses = {
  /** A guess counts before it is checked, and is given back unless it was wrong, so that parallel guesses all count. */
  run<T>(guess: Guess, check: () => Promise<T>, isWrong: (result: T) => boolean): Promise<Counted<T>>;
};

/** Networks take turns, and one has half of them at most. A check may wait for the log, so there are more than hashes at once. */
const CHECKS_AT_ONCE = 16;
const TURN_MS = 5_000;

export const passwordGuesses = (attempts: Attempts, pause: (ms: number) => Promise<unknown>): PasswordGuesses => {
  const checks = fairSemaphore(CHECKS_AT_ONCE);
  return {
    async run({ address, ip }, check, isWrong) {
      const taken: (() => void)[] = [];
      const giveBack = (): void => {
        for (const give of taken) give();
      };
      const limits = [
        ["failed-login-ip", ip],
        ["failed-login-address", `${address} ${network(ip)}`],
      ] as const;
      for (const [kind, key] of limits) {
        const attempt = attempts.take(kind, key);
        if (!attempt.ok) {
          giveBack();
          return { ok: false, retryAfterS: attempt.retryAfterS };
        }
        taken.push(() => attempts.giveBack(kind, key));
      }
      let wrong = false;
      try {
        // Beyond the limit for guesses from all networks, they are only delayed, so that nobody can lock the owner out.
        if (attempts.take("failed-login-slow", address).ok)
          taken.push(() => attempts.giveBack("failed-login-slow", address));
        else await pause(SLOW_LOGIN_MS);
        const party = network(ip);
        if (!(await checks.enter(party, TURN_MS))) return { ok: false, retryAfterS: 1 };
        try {
          const result = await check();
          wrong = isWrong(result);
          return { ok: true, result };
        } finally {
          checks.leave(party);
        }
      } finally {
        if (!wrong) giveBack();
      }
    },
  };
};
