import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { denied, type GateName } from "../../domain/gate/verdict.ts";
import { systemTimers, type Timers } from "../loops/timers.ts";
import type { CheckOrder, FromCheckThread, ToCheckThread } from "./check-protocol.ts";
import type { PolicyCheck } from "./compiled-policy.ts";

export type CheckAnswer = { readonly check: PolicyCheck; readonly work: number };

export type CheckThread = {
  /** "full": too many orders of the account wait already. Never rejects: a check that cannot be made is a denial. */
  run(account: string, order: CheckOrder, body: Uint8Array): Promise<CheckAnswer | "full">;
  stop(): Promise<void>;
};

/** Orders of one account that may wait, each with its body. */
const WAITING_MAX = 32;
/** The budget of a check ends it after 0.3 s; on a machine that does other things it may take many times that. */
const ANSWER_MS = 10_000;
/** Payloads of 1 MB are some 50 MB as values of CEL at worst. */
const HEAP_MB = 256;
/** What a check that never answered is counted as. */
const LOST_WORK = 30_000_000;

type Waiting = {
  readonly account: string;
  readonly order: CheckOrder;
  readonly body: Uint8Array;
  readonly settle: (answer: CheckAnswer) => void;
};

/** The program of the thread, a neighbour of this file: compiled or not, it ends as this file does. */
const program = (): URL => new URL(`./check-worker${extname(import.meta.url)}`, import.meta.url);

const lost = ({ order: { definition } }: Waiting): CheckAnswer => {
  const names: readonly GateName[] = definition.approval === undefined ? ["content"] : ["content", "approval"];
  const gates = names.map((gate) => denied(gate, "too-costly", "the payload takes too much work to check"));
  return { check: { gates, cost: null }, work: LOST_WORK };
};

/**
 * One thread for the checks that take long. It is started with the first of them, and again after one that does not
 * answer. One order is under way at a time, and the accounts take turns.
 */
export const checkThread = (timers: Pick<Timers, "after"> = systemTimers): CheckThread => {
  /** By account, in the order of their next turns. */
  const waiting = new Map<string, Waiting[]>();
  let worker: Worker | null = null;
  let current: (Waiting & { readonly number: number; readonly cancel: () => void }) | null = null;
  let count = 0;

  const finish = (answer: CheckAnswer): void => {
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
    if (current !== null) finish(lost(current));
  };

  const started = (): Worker => {
    const thread = new Worker(program(), { name: "checks", resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    const isItsEnd = (): void => {
      if (worker === thread) giveUp();
    };
    thread.on("message", ({ number, check, work }: FromCheckThread) => {
      if (current?.number === number) finish({ check, work });
    });
    thread.on("error", isItsEnd).on("exit", isItsEnd);
    return thread;
  };

  const take = (): Waiting | null => {
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
    current = { ...first, number: count, cancel: timers.after(ANSWER_MS, giveUp) };
    // A copy: the bytes are sent away, and whose they are still needs them.
    const body = new Uint8Array(first.body);
    worker.postMessage({ number: count, order: first.order, body } satisfies ToCheckThread, [body.buffer]);
  };

  return {
    run: (account, order, body) =>
      new Promise((resolve) => {
        const queue = waiting.get(account) ?? [];
        if (queue.length >= WAITING_MAX) {
          resolve("full");
          return;
        }
        queue.push({ account, order, body, settle: resolve });
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
