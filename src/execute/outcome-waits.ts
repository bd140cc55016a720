import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Fact } from "../streams/envelope.ts";
import { type Foldable, foldStream, type StreamState } from "../streams/run-command.ts";
import { type WaitingPlaces, waitingPlaces } from "./waiting-places.ts";

export type Outcomes<S> = {
  changed(id: string, known: StreamState<S>): void;
  /** Resolves with the latest state when it `isEnough`, the time is over or on abort; at once if too many wait. */
  wait(id: string, known: StreamState<S>, options: WaitOptions<S>): Promise<StreamState<S>>;
};

export type WaitOptions<S> = {
  readonly account: string;
  readonly isEnough: (state: S) => boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

const TICK_MS = 50;
/** Another node may deliver, so the stream is read: soon at first, and rarely once the wait takes long. */
const LOOK_FIRST_MS = 100;
const LOOK_MS_MAX = 1_000;
const LOOKS_MAX = 16;

type Waiter<S> = {
  readonly account: string;
  readonly isEnough: (state: S) => boolean;
  readonly until: number;
  readonly end: () => void;
};

type Watched<S> = { known: StreamState<S>; readonly waiters: Set<Waiter<S>>; lookAt: number; gapMs: number };

type OutcomesDeps<S, E extends Fact> = {
  readonly log: EventLog;
  readonly decider: Foldable<S, E>;
  readonly category: string;
  readonly onError: (error: unknown) => void;
  readonly places?: WaitingPlaces;
};

export const outcomes = <S, E extends Fact>({
  log,
  decider,
  category,
  onError,
  places = waitingPlaces(),
}: OutcomesDeps<S, E>): Outcomes<S> => {
  const watched = new Map<string, Watched<S>>();
  let looking = 0;
  let timer: NodeJS.Timeout | null = null;

  const learn = (it: Watched<S>, known: StreamState<S>): void => {
    if ((known.revision ?? -1) <= (it.known.revision ?? -1)) return;
    it.known = known;
    for (const waiter of [...it.waiters]) if (waiter.isEnough(known.state)) waiter.end();
  };

  const look = async (id: string, it: Watched<S>): Promise<void> => {
    looking += 1;
    it.lookAt = Number.POSITIVE_INFINITY;
    try {
      learn(it, await foldStream(log, decider, `${category}-${id}`, { from: it.known }));
    } catch (error) {
      onError(error);
    }
    looking -= 1;
    it.gapMs = Math.min(it.gapMs * 2, LOOK_MS_MAX);
    it.lookAt = performance.now() + it.gapMs;
  };

  const tick = (): void => {
    const now = performance.now();
    for (const [id, it] of watched) {
      for (const waiter of [...it.waiters]) if (waiter.until <= now) waiter.end();
      if (it.waiters.size > 0 && it.lookAt <= now && looking < LOOKS_MAX) void look(id, it);
    }
  };

  const watch = (id: string, known: StreamState<S>): Watched<S> => {
    let it = watched.get(id);
    if (it === undefined) {
      it = { known, waiters: new Set(), lookAt: performance.now() + LOOK_FIRST_MS, gapMs: LOOK_FIRST_MS };
      watched.set(id, it);
    } else learn(it, known);
    timer ??= setInterval(tick, TICK_MS);
    return it;
  };

  const leave = (id: string, it: Watched<S>, waiter: Waiter<S>): void => {
    it.waiters.delete(waiter);
    places.leave(waiter.account);
    if (it.waiters.size === 0) watched.delete(id);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    changed(id, known) {
      const it = watched.get(id);
      if (it !== undefined) learn(it, known);
    },
    wait(id, known, { account, isEnough, waitMs, signal }) {
      if (isEnough(known.state) || waitMs <= 0 || signal.aborted || !places.enter(account)) {
        return Promise.resolve(known);
      }
      return new Promise((resolve) => {
        const it = watch(id, known);
        const end = (): void => {
          if (!it.waiters.has(waiter)) return;
          leave(id, it, waiter);
          signal.removeEventListener("abort", end);
          resolve(it.known);
        };
        const waiter: Waiter<S> = { account, isEnough, until: performance.now() + waitMs, end };
        it.waiters.add(waiter);
        signal.addEventListener("abort", end);
        if (isEnough(it.known.state)) end();
      });
    },
  };
};
