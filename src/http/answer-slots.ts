import { type Problem, problem } from "../streams/problems.ts";
import type { Principal } from "./route.ts";

/** `callerMax`: of one member in all sessions, or of one key; absent for no limit but the account's. */
export type AnswerLimits = { readonly callerMax?: number; readonly accountMax: number; readonly max: number };

type Caller = Pick<Principal, "account" | "id">;

const RETRY_AFTER_S = 10;

const counts = () => {
  const open = new Map<string, number>();
  return {
    of: (name: string): number => open.get(name) ?? 0,
    add(name: string, by: 1 | -1): void {
      const count = (open.get(name) ?? 0) + by;
      if (count > 0) open.set(name, count);
      else open.delete(name);
    },
  };
};

/** Counts answers that are sent for a long time, of each caller, of each account and of all. */
export const answerSlots = (what: string, { callerMax, accountMax, max }: AnswerLimits) => {
  const [accounts, callers] = [counts(), counts()];
  let all = 0;
  const full = (who: string, most: number): Problem =>
    problem("rate-limited", `${who} may have ${most} of these ${what} open at a time.`, { retryAfterS: RETRY_AFTER_S });
  return {
    take({ account, id }: Caller): Problem | null {
      if (callerMax !== undefined && callers.of(id) >= callerMax) return full("A member or a key", callerMax);
      if (accounts.of(account) >= accountMax) return full("An account", accountMax);
      if (all >= max) {
        return problem("overloaded", `Too many ${what} are open at the moment.`, { retryAfterS: RETRY_AFTER_S });
      }
      callers.add(id, 1);
      accounts.add(account, 1);
      all += 1;
      return null;
    },
    giveBack({ account, id }: Caller): void {
      callers.add(id, -1);
      accounts.add(account, -1);
      all -= 1;
    },
  };
};
