export type WaitingPlaces = {
  /** False when all places, or all of the account's, are taken. Whoever has entered leaves. */
  enter(account: string): boolean;
  leave(account: string): void;
};

/** Each holds a connection; beyond, an answer says how far it is at once. */
const WAITERS_MAX = 1_000;
/** Of one account, so that its agents leave places to those of others. */
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
