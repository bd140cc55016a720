import type { Clock } from "../../domain/ports/clock.ts";
import type { Timers } from "../../src/following/timers.ts";

type Timer = { readonly at: number; readonly order: number; readonly work: () => void; isOff: boolean };

export type VirtualTime = {
  readonly clock: Clock;
  readonly timers: Timers;
  sleep(ms: number): Promise<void>;
  /** It is later at once, as after a machine has slept: what was to be run meanwhile is run next. */
  jump(ms: number): void;
  /** The clock is set: it says another time from now on. What is to be run comes when it would have come. */
  set(byMs: number): void;
  /** Goes from timer to timer, and to the end of what each leads to, until nothing is left before that time. */
  runUntil(ms: number): Promise<void>;
};

/** All that is pending in this process and needs no time: what is in memory is done behind it. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still while there is something to do, and then jumps to the next timer: ten minutes take seconds. */
export const virtualTime = (fromMs: number): VirtualTime => {
  let now = fromMs;
  let setBy = 0;
  let made = 0;
  /** A binary heap by time, those of one time in the order in which they were made. */
  const heap: Timer[] = [];
  const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (timer: Timer): void => {
    let index = heap.length;
    while (index > 0) {
      const parent = heap[(index - 1) >> 1];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[index] = parent;
      index = (index - 1) >> 1;
    }
    heap[index] = timer;
  };

  const pop = (): Timer | undefined => {
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const child = a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
      const least = heap[child];
      if (least === undefined || !isBefore(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return first;
  };

  const after = (ms: number, work: () => void): (() => void) => {
    made += 1;
    const timer = { at: now + Math.max(0, ms), order: made, work, isOff: false };
    push(timer);
    return () => {
      timer.isOff = true;
    };
  };

  return {
    clock: { now: () => Math.floor(now) + setBy },
    timers: { after, now: () => now },
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),
    jump(ms) {
      now += ms;
    },
    set(byMs) {
      setBy += byMs;
    },
    async runUntil(ms) {
      await settled();
      for (let [next] = heap; next !== undefined && next.at <= ms; [next] = heap) {
        pop();
        if (next.isOff) continue;
        now = Math.max(now, next.at);
        next.work();
        await settled();
      }
      now = Math.max(now, ms);
    },
  };
};
