import { type Delivery, delivery } from "../../domain/delivery/decider.ts";
import type { EventLog } from "../../domain/ports.ts";
import { type Known, readOn } from "../run-command.ts";

/** Who waits for something to happen to a delivery, wherever it happens. */
export type Outcomes = {
  /** Told by this process's own deliverer. */
  changed(eventId: string, known: Known<Delivery>): void;
  /**
   * The delivery once `isEnough` holds, or as it is known when the time is over, the signal aborts, or too many wait
   * already, here or of its account. Never rejects: a log that cannot be read is looked at again.
   */
  wait(eventId: string, known: Known<Delivery>, options: WaitOptions): Promise<Known<Delivery>>;
};

export type WaitOptions = {
  /** Whose request it is: no account may take all the places. */
  readonly account: string;
  readonly isEnough: (state: Delivery) => boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

/** Each holds a connection; beyond, an answer says how far it is at once. */
const WAITERS_MAX = 1_000;
/** Of one account, so that its agents leave places to those of others. */
const ACCOUNT_WAITERS_MAX = 200;
/** One timer looks after all of them. */
const TICK_MS = 50;
/** Another node may deliver: the stream is looked at, soon at first, and seldom once it takes long. */
const LOOK_FIRST_MS = 100;
const LOOK_MS_MAX = 1_000;
/** Looks under way at once. */
const LOOKS_MAX = 16;

type Waiter = {
  readonly account: string;
  readonly isEnough: (state: Delivery) => boolean;
  readonly until: number;
  /** Ends the wait with what is known. */
  readonly end: () => void;
};

type Watched = { known: Known<Delivery>; readonly waiters: Set<Waiter>; lookAt: number; gapMs: number };

export const outcomes = (
  log: EventLog,
  onError: (error: unknown) => void,
  waitersMax = WAITERS_MAX,
  accountWaitersMax = ACCOUNT_WAITERS_MAX,
): Outcomes => {
  const watched = new Map<string, Watched>();
  const waitingOf = new Map<string, number>();
  let waiting = 0;
  let looking = 0;
  let timer: NodeJS.Timeout | null = null;

  const count = (account: string, step: 1 | -1): void => {
    waiting += step;
    const ofAccount = (waitingOf.get(account) ?? 0) + step;
    if (ofAccount === 0) waitingOf.delete(account);
    else waitingOf.set(account, ofAccount);
  };

  const isFull = (account: string): boolean =>
    waiting >= waitersMax || (waitingOf.get(account) ?? 0) >= accountWaitersMax;

  const learn = (it: Watched, known: Known<Delivery>): void => {
    if ((known.revision ?? -1) <= (it.known.revision ?? -1)) return;
    it.known = known;
    for (const waiter of [...it.waiters]) if (waiter.isEnough(known.state)) waiter.end();
  };

  const look = async (eventId: string, it: Watched): Promise<void> => {
    looking += 1;
    it.lookAt = Number.POSITIVE_INFINITY;
    try {
      learn(it, await readOn(log, delivery, `delivery-${eventId}`, it.known));
    } catch (error) {
      onError(error);
    }
    looking -= 1;
    it.gapMs = Math.min(it.gapMs * 2, LOOK_MS_MAX);
    it.lookAt = performance.now() + it.gapMs;
  };

  const tick = (): void => {
    const now = performance.now();
    for (const [eventId, it] of watched) {
      for (const waiter of [...it.waiters]) if (waiter.until <= now) waiter.end();
      if (it.waiters.size > 0 && it.lookAt <= now && looking < LOOKS_MAX) void look(eventId, it);
    }
  };

  const watch = (eventId: string, known: Known<Delivery>): Watched => {
    let it = watched.get(eventId);
    if (it === undefined) {
      it = { known, waiters: new Set(), lookAt: performance.now() + LOOK_FIRST_MS, gapMs: LOOK_FIRST_MS };
      watched.set(eventId, it);
    } else learn(it, known);
    timer ??= setInterval(tick, TICK_MS);
    return it;
  };

  const leave = (eventId: string, it: Watched, waiter: Waiter): void => {
    it.waiters.delete(waiter);
    count(waiter.account, -1);
    if (it.waiters.size === 0) watched.delete(eventId);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    changed(eventId, known) {
      const it = watched.get(eventId);
      if (it !== undefined) learn(it, known);
    },
    wait(eventId, known, { account, isEnough, waitMs, signal }) {
      if (isEnough(known.state) || waitMs <= 0 || signal.aborted || isFull(account)) {
        return Promise.resolve(known);
      }
      return new Promise((resolve) => {
        count(account, 1);
        const it = watch(eventId, known);
        const end = (): void => {
          if (!it.waiters.has(waiter)) return;
          leave(eventId, it, waiter);
          signal.removeEventListener("abort", end);
          resolve(it.known);
        };
        const waiter: Waiter = { account, isEnough, until: performance.now() + waitMs, end };
        it.waiters.add(waiter);
        signal.addEventListener("abort", end);
        if (isEnough(it.known.state)) end();
      });
    },
  };
};
