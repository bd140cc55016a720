import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ViewsUnavailable } from "../view-errors.ts";
import { threadUrl, YOUNG_MB } from "./event-log-protocol.ts";
import type { Answer, FromReader, Question, ReaderData, ReaderWorkerData, ToReader } from "./view-reader-protocol.ts";

export type QueryThread = {
  /** Throws `ViewsUnavailable` if too many questions wait, no answer comes in time, or the thread died. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
};

export type QueryThreadLimits = { readonly pendingMax: number; readonly queryMs: number };

/** Abandoned threads that are still inside a statement and use a processor. */
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

/**
 * SQLite's synchronous API cannot interrupt a statement. A thread that is silent for a query's whole time is abandoned:
 * a new one gets the other questions, the old one ends after its statement. Terminating it would crash the process: the
 * driver returns from the statement into a dead thread.
 */
export const queryThread = async (
  data: ReaderData,
  { pendingMax, queryMs }: QueryThreadLimits,
  onThread?: (worker: Worker) => void,
): Promise<QueryThread> => {
  const calls = new Map<number, Call>();
  const alive = new Set<Worker>();
  let thread: Thread | null = null;
  let givenUp = 0;
  let failures = 0;
  let lastSign = 0;
  let lastNumber = 0;
  let isClosed = false;

  const settle = (number: number, error: Error | null, answer: Answer): void => {
    const call = calls.get(number);
    if (call === undefined) return;
    calls.delete(number);
    clearTimeout(call.timer);
    if (error === null) call.resolve(answer);
    else call.reject(error);
  };

  const send = (number: number, { question }: Call): void =>
    thread?.worker.postMessage({ kind: "ask", number, question } satisfies ToReader);

  const hear = (message: FromReader): void => {
    lastSign = performance.now();
    if (message.kind === "answer") settle(message.number, null, message.answer);
    else if (message.kind === "failed") {
      const error = message.isEngine ? new ViewsUnavailable(message.message) : new Error(message.message);
      settle(message.number, error, null);
    } else failures = 0;
  };

  const lost = (cause: unknown): void => {
    const error = new ViewsUnavailable("the thread that answers queries has ended", { cause });
    for (const number of [...calls.keys()]) settle(number, error, null);
    const delayMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(failures, 20));
    failures += 1;
    setTimeout(() => start().catch(() => undefined), delayMs).unref();
  };

  const start = (): Promise<void> =>
    new Promise((opened, failed) => {
      if (isClosed) return failed(new ViewsUnavailable("the views are closed"));
      const isGivenUp = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const workerData: ReaderWorkerData = { ...data, isGivenUp };
      const worker = new Worker(threadUrl("view-reader-worker"), {
        workerData,
        name: "view-reader",
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      alive.add(worker);
      const started = { worker, isGivenUp };
      thread = started;
      lastSign = performance.now();
      let cause: unknown = new Error("the thread that answers queries has ended");
      worker.on("message", (message: FromReader) => {
        if (message.kind === "opened") {
          // From here on each caller's timer keeps the process alive.
          if (!isClosed) worker.unref();
          opened();
        }
        if (thread === started) hear(message);
      });
      worker.on("error", (error) => {
        cause = error;
      });
      worker.on("exit", () => {
        alive.delete(worker);
        failed(cause);
        if (thread === started) {
          thread = null;
          if (!isClosed) lost(cause);
        } else {
          givenUp -= 1;
          if (thread === null && !isClosed) start().catch(() => undefined);
        }
      });
      onThread?.(worker);
      for (const [number, call] of calls) send(number, call);
    });

  const giveUp = (): void => {
    for (const [number, { isAnswered }] of calls) if (isAnswered) calls.delete(number);
    const old = thread;
    if (old === null) return;
    thread = null;
    givenUp += 1;
    Atomics.store(old.isGivenUp, 0, 1);
    // The message makes the thread read the flag.
    old.worker.ref();
    old.worker.postMessage({ kind: "close" } satisfies ToReader);
    if (givenUp <= GIVEN_UP_MAX) start().catch(() => undefined);
  };

  /** The caller is answered when its time is over; only silence shows that the thread hangs. */
  const timeUp = (number: number): void => {
    const call = calls.get(number);
    if (call === undefined) return;
    if (!call.isAnswered) call.reject(new ViewsUnavailable(`no answer from the views within ${queryMs} ms`));
    call.isAnswered = true;
    const silentMs = performance.now() - lastSign;
    if (thread === null) calls.delete(number);
    else if (silentMs >= queryMs) giveUp();
    else call.timer = soon(number, queryMs - silentMs);
  };

  // After a pause of this process, answers may have arrived unread; setImmediate lets them go first.
  const soon = (number: number, ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(() => timeUp(number)), ms);

  const ask = (question: Question): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new ViewsUnavailable("the views are closed"));
      if (calls.size >= pendingMax) return reject(new ViewsUnavailable(`${pendingMax} queries are waiting already`));
      lastNumber += 1;
      const call: Call = { question, resolve, reject, timer: soon(lastNumber, queryMs), isAnswered: false };
      calls.set(lastNumber, call);
      send(lastNumber, call);
    });

  const ended = (worker: Worker): Promise<unknown> => {
    worker.ref();
    return once(worker, "exit");
  };

  /** Waits for running statements: ending the process during one would abort it. */
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    for (const number of [...calls.keys()]) settle(number, new ViewsUnavailable("the views are closed"), null);
    thread?.worker.postMessage({ kind: "close" } satisfies ToReader);
    await Promise.all([...alive].map(ended));
  };

  const opening = start();
  await opening.catch((error: unknown) => {
    isClosed = true;
    throw error;
  });
  return { ask, close };
};
