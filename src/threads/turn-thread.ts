import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { systemTimers, type Timers } from "../following/timers.ts";

export type ToThread<Order> = { readonly number: number; readonly order: Order };
export type FromThread<Answer> = { readonly number: number; readonly answer: Answer };

export type TurnThread<Order, Answer> = {
  /**
   * Answers "full" if too many orders of the account wait, and what `lost` returns if the thread leaves the order
   * unanswered. Never rejects.
   */
  run(account: string, order: Order): Promise<Answer | "full">;
  stop(): Promise<void>;
};

export type TurnThreadOptions<Order, Answer> = {
  readonly name: string;
  /** The URL of the thread's module without its extension, which is taken from this file, compiled or not. */
  readonly program: URL;
  readonly waitingMax: number;
  readonly heapMb: number;
  readonly answerMs: number;
  readonly lost: (order: Order) => Answer;
};

type Waiting<Order, Answer> = {
  readonly account: string;
  readonly order: Order;
  readonly settle: (answer: Answer) => void;
};

/** Starts the thread with the first order, and anew after it has ended or left one unanswered. Accounts take turns. */
export const turnThread = <Order, Answer>(
  { name, program, waitingMax, heapMb, answerMs, lost }: TurnThreadOptions<Order, Answer>,
  timers: Pick<Timers, "after"> = systemTimers,
): TurnThread<Order, Answer> => {
  /** The waiting orders of each account; the account whose turn is next comes first. */
  const waiting = new Map<string, Waiting<Order, Answer>[]>();
  let worker: Worker | null = null;
  let current: (Waiting<Order, Answer> & { readonly number: number; readonly cancel: () => void }) | null = null;
  let count = 0;

  const finish = (answer: Answer): void => {
    const done = current;
    current = null;
    done?.cancel();
    worker?.unref();
    done?.settle(answer);
    next();
  };

  const giveUp = (): void => {
    const ended = worker;
    worker = null;
    void ended?.terminate();
    if (current !== null) finish(lost(current.order));
  };

  const started = (): Worker => {
    const file = new URL(`${program.href}${extname(import.meta.url)}`);
    const thread = new Worker(file, { name, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    const isItsEnd = (): void => {
      if (worker === thread) giveUp();
    };
    thread.on("message", ({ number, answer }: FromThread<Answer>) => {
      if (current?.number === number) finish(answer);
    });
    thread.on("error", isItsEnd).on("exit", isItsEnd);
    return thread;
  };

  const take = (): Waiting<Order, Answer> | null => {
    for (const [account, queue] of waiting) {
      const first = queue.shift();
      waiting.delete(account);
      if (queue.length > 0) waiting.set(account, queue);
      if (first !== undefined) return first;
    }
    return null;
  };

  const next = (): void => {
    if (current !== null) return;
    const first = take();
    if (first === null) return;
    worker ??= started();
    worker.ref();
    count += 1;
    current = { ...first, number: count, cancel: timers.after(answerMs, giveUp) };
    worker.postMessage({ number: count, order: first.order } satisfies ToThread<Order>);
  };

  return {
    run: (account, order) =>
      new Promise((resolve) => {
        const queue = waiting.get(account) ?? [];
        if (queue.length >= waitingMax) {
          resolve("full");
          return;
        }
        queue.push({ account, order, settle: resolve });
        waiting.set(account, queue);
        next();
      }),
    async stop() {
      const ended = worker;
      worker = null;
      await ended?.terminate();
    },
  };
};
