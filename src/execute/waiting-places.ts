export type WaitingPlaces = {
  /** False if all places, or all of the account's, are taken. A caller that entered has to leave. */
  enter(account: string): boolean;
  leave(account: string): void;
};

/** Each waiting request holds a connection, so further requests are answered at once. */
const WAITERS_MAX = 1_000;
const ACCOUNT_WAITERS_MAX = 200;

export const waitingPlaces = (waitersMax = WAITERS_MAX, accountWaitersMax = ACCOUNT_WAITERS_MAX): WaitingPlaces => {
  const waitingOf = new Map<string, number>();
  let waiting = 0;
  return {
    enter(account) {
      const ofAccount = waitingOf.get(account) ?? 0;
      if (waiting >= waitersMax || ofAccount >= accountWaitersMax) return false;
      waiting += 1;
      waitingOf.set(account, ofAccount + 1);
      return true;
    },
    leave(account) {
      waiting -= 1;
      const ofAccount = (waitingOf.get(account) ?? 1) - 1;
      if (ofAccount === 0) waitingOf.delete(account);
      else waitingOf.set(account, ofAccount);
    },
  };
};
