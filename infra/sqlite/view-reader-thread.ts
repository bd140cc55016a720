import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ViewsUnavailable } from "../view-errors.ts";
import { threadUrl, YOUNG_MB } from "./event-log-protocol.ts";
import type { Answer, FromReader, Question, ReaderData, ReaderWorkerData, ToReader } from "./view-reader-protocol.ts";

export type QueryThreadLimits = { readonly pendingMax: number; readonly queryMs: number };

export type QueryThreadOptions = ReaderData & QueryThreadLimits & { readonly onThread?: (worker: Worker) => void };

/** If more threads are abandoned, no new one is started: each is still inside a statement and uses a processor. */
const GIVEN_UP_MAX = 1;
const RESTART_MIN_MS = 50;
const RESTART_MAX_MS = 5_000;

type Thread = { readonly worker: Worker; readonly isGivenUp: Int32Array };

type Call = {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
  isAnswered: boolean;
};

const startWorker = (data: ReaderData): Thread => {
  const isGivenUp = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: ReaderWorkerData = { ...data, isGivenUp };
  const worker = new Worker(threadUrl("view-reader-worker"), {
    workerData,
    name: "view-reader",
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  return { worker, isGivenUp };
};

const closed = (): ViewsUnavailable => new ViewsUnavailable("the views are closed");

const ended = (worker: Worker): Promise<unknown> => {
  worker.ref();
  return once(worker, "exit");
};

/**
 * A statement cannot be interrupted, and terminating its thread would crash the process. So a thread that is silent for
 * a query's whole time is abandoned, and a new one gets the other questions.
 */
export class QueryThread {
  readonly #data: ReaderData;
  readonly #limits: QueryThreadLimits;
  readonly #onThread: ((worker: Worker) => void) | undefined;
  readonly #calls = new Map<number, Call>();
  readonly #alive = new Set<Worker>();
  #thread: Thread | null = null;
  #givenUp = 0;
  #failures = 0;
  #lastSign = 0;
  #lastNumber = 0;
  #isClosed = false;

  private constructor({ path, schemas, pendingMax, queryMs, onThread }: QueryThreadOptions) {
    this.#data = { path, schemas };
    this.#limits = { pendingMax, queryMs };
    this.#onThread = onThread;
  }

  static async open(options: QueryThreadOptions): Promise<QueryThread> {
    const queries = new QueryThread(options);
    try {
      await queries.#start();
    } catch (error) {
      queries.#isClosed = true;
      throw error;
    }
    return queries;
  }

  /** Rejects with `ViewsUnavailable` if too many questions wait, no answer comes in time, or the thread dies. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { pendingMax, queryMs } = this.#limits;
      if (this.#isClosed) return reject(closed());
      if (this.#calls.size >= pendingMax)
        return reject(new ViewsUnavailable(`${pendingMax} queries are waiting already`));
      this.#lastNumber += 1;
      const number = this.#lastNumber;
      const call: Call = { question, resolve, reject, timer: this.#timer(number, queryMs), isAnswered: false };
      this.#calls.set(number, call);
      this.#send(number, call);
    });
  }

  /** Waits for running statements, because ending the process during one would abort it. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failAll(closed());
    this.#thread?.worker.postMessage({ kind: "close" } satisfies ToReader);
    await Promise.all([...this.#alive].map(ended));
  }

  #start(): Promise<void> {
    return new Promise((opened, failed) => {
      if (this.#isClosed) return failed(closed());
      const thread = startWorker(this.#data);
      const { worker } = thread;
      this.#alive.add(worker);
      this.#thread = thread;
      this.#lastSign = performance.now();
      let cause: unknown = new Error("the thread that answers queries has ended");
      worker.on("message", (message: FromReader) => {
        if (message.kind === "opened") {
          // From here on the timers of the callers, and not the thread, keep the process alive.
          if (!this.#isClosed) worker.unref();
          opened();
        }
        if (this.#thread === thread) this.#hear(message);
      });
      worker.on("error", (error) => {
        cause = error;
      });
      worker.on("exit", () => {
        failed(cause);
        this.#onExit(thread, cause);
      });
      this.#onThread?.(worker);
      for (const [number, call] of this.#calls) this.#send(number, call);
    });
  }

  #restart(): void {
    this.#start().catch(() => undefined);
  }

  #send(number: number, { question }: Call): void {
    this.#thread?.worker.postMessage({ kind: "ask", number, question } satisfies ToReader);
  }

  #hear(message: FromReader): void {
    this.#lastSign = performance.now();
    switch (message.kind) {
      case "opened":
        this.#failures = 0;
        return;
      case "answer":
        this.#settle(message.number, ({ resolve }) => resolve(message.answer));
        return;
      case "failed": {
        const error = message.isEngine ? new ViewsUnavailable(message.message) : new Error(message.message);
        this.#settle(message.number, ({ reject }) => reject(error));
      }
    }
  }

  #settle(number: number, settleCall: (call: Call) => void): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    this.#calls.delete(number);
    clearTimeout(call.timer);
    settleCall(call);
  }

  #failAll(error: Error): void {
    for (const number of [...this.#calls.keys()]) this.#settle(number, ({ reject }) => reject(error));
  }

  #onExit(thread: Thread, cause: unknown): void {
    this.#alive.delete(thread.worker);
    if (this.#thread !== thread) {
      this.#givenUp -= 1;
      if (this.#thread === null && !this.#isClosed) this.#restart();
      return;
    }
    this.#thread = null;
    if (this.#isClosed) return;
    this.#failAll(new ViewsUnavailable("the thread that answers queries has ended", { cause }));
    const delayMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    setTimeout(() => this.#restart(), delayMs).unref();
  }

  /** After a pause of this process, answers may have arrived unread; `setImmediate` lets them be read first. */
  #timer(number: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#timeUp(number)), ms);
  }

  /** The caller gets an error when its time is up, but only a thread that sent nothing for as long is given up. */
  #timeUp(number: number): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    const { queryMs } = this.#limits;
    if (!call.isAnswered) call.reject(new ViewsUnavailable(`no answer from the views within ${queryMs} ms`));
    call.isAnswered = true;
    const silentMs = performance.now() - this.#lastSign;
    if (this.#thread === null) this.#calls.delete(number);
    else if (silentMs >= queryMs) this.#giveUp(this.#thread);
    else call.timer = this.#timer(number, queryMs - silentMs);
  }

  #giveUp({ worker, isGivenUp }: Thread): void {
    for (const [number, { isAnswered }] of this.#calls) if (isAnswered) this.#calls.delete(number);
    this.#thread = null;
    this.#givenUp += 1;
    Atomics.store(isGivenUp, 0, 1);
    // The message wakes the thread, so that it reads `isGivenUp` and ends.
    worker.ref();
    worker.postMessage({ kind: "close" } satisfies ToReader);
    if (this.#givenUp <= GIVEN_UP_MAX) this.#restart();
  }
}
