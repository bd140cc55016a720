import { type Attempts, network, SLOW_LOGIN_MS } from "./rate-limit.ts";

/** `address`: a normalised mailbox; `ip`: who asks. */
type Guess = { readonly address: string; readonly ip: string };

type Counted<T> = { readonly ok: true; readonly result: T } | { readonly ok: false; readonly retryAfterS: number };

export type PasswordGuesses = {
  /**
   * Runs a check of a password unless this network has guessed too often. `isWrong` says whether the result was a wrong
   * guess; only those stay counted, and they are counted before the check, so that a hundred at once are ten.
   */
  run<T>(guess: Guess, check: () => Promise<T>, isWrong: (result: T) => boolean): Promise<Counted<T>>;
};

/** `pause`: waits so many milliseconds. */
export const passwordGuesses = (attempts: Attempts, pause: (ms: number) => Promise<unknown>): PasswordGuesses => ({
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
      // Whoever comes from a network that has not guessed is answered all the same, so nobody is locked out from afar.
      if (attempts.take("failed-login-slow", address).ok)
        taken.push(() => attempts.giveBack("failed-login-slow", address));
      else await pause(SLOW_LOGIN_MS);
      const result = await check();
      wrong = isWrong(result);
      return { ok: true, result };
    } finally {
      if (!wrong) giveBack();
    }
  },
});
