import type { Json } from "../../domain/json.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { ProblemError } from "../http/problem-error.ts";
import type { Answer } from "../http/route.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { type TurnThread, turnThread } from "../threads/turn-thread.ts";
import { type Answers, type Orders, TASKS, type TaskName } from "./body-tasks.ts";

export type BodyReader = {
  /** Returns a problem if the body is large and the account has used up its rate; null if the body may be read. */
  busy<Name extends TaskName>(account: string, name: Name, order: Orders[Name]): Problem | null;
  indebted(account: string): Problem | null;
  /** Reads the body even if the account has used up its rate, so a caller that can still refuse asks `busy` first. */
  run<Name extends TaskName>(account: string, name: Name, order: Orders[Name]): Promise<Answers[Name]>;
};

export const directBodyReader: BodyReader = {
  busy: () => null,
  indebted: () => null,
  run: async (_account, name, order) => TASKS[name].run(order),
};

export type AnyOrder = { readonly name: TaskName; readonly order: Orders[TaskName] };
export type AnyAnswer = { readonly answer: Answers[TaskName] } | { readonly failed: string };

export type BodyThread = TurnThread<AnyOrder, AnyAnswer>;

/** An account is refused while this many bodies of it, each up to 1 MB, wait for the thread or are being read. */
export const UNDER_WAY_MAX = 16;
const ANSWER_MS = 10_000;
const HEAP_MB = 256;

const LOST: AnyAnswer = { failed: "the body was not read in time" };

export const bodyThread = (name = "body-reader"): BodyThread =>
  turnThread<AnyOrder, AnyAnswer>({
    ...{ name, program: new URL("./body-worker", import.meta.url) },
    ...{ waitingMax: Number.POSITIVE_INFINITY, heapMb: HEAP_MB, answerMs: ANSWER_MS, lost: () => LOST },
  });

/** Reading a body takes at most 120 ns a byte, so a body of this size blocks the main thread for less than 5 ms. */
export const DIRECT_BYTES_MAX = 32 * 1_024;
/** Rate of each account: at 120 ns a byte, its reads take at most half of the thread's time. */
export const READ_BYTES_PER_S = 4 * 1_048_576;
const SECOND_MS = 1_000;

/** Reads small bodies on the main thread and the others on a worker thread, with a rate for each account. */
export const sharedBodyReader = (thread: Pick<BodyThread, "run">, clock: Clock): BodyReader => {
  /** For each account in debt: the time (ms since 1970) at which its reads are within its rate again. */
  const readUntil = new Map<string, number>();

  const underWay = new Map<string, number>();

  const debtMs = (account: string): number => {
    const until = readUntil.get(account);
    if (until === undefined) return 0;
    const left = until - clock.now();
    if (left <= 0) readUntil.delete(account);
    return Math.max(0, left);
  };

  const indebted = (account: string): Problem | null => {
    const ms = debtMs(account);
    if (ms < SECOND_MS && (underWay.get(account) ?? 0) < UNDER_WAY_MAX) return null;
    const detail = "This account has had as many bytes of large payloads and answers shown as it may in a second.";
    return problem("rate-limited", detail, { retryAfterS: Math.max(1, Math.ceil(ms / SECOND_MS)) });
  };

  return {
    indebted,
    busy: (account, name, order) => (TASKS[name].bytesOf(order) <= DIRECT_BYTES_MAX ? null : indebted(account)),
    async run(account, name, order) {
      const bytes = TASKS[name].bytesOf(order);
      if (bytes <= DIRECT_BYTES_MAX) return TASKS[name].run(order);
      readUntil.set(account, clock.now() + debtMs(account) + (bytes / READ_BYTES_PER_S) * SECOND_MS);
      underWay.set(account, (underWay.get(account) ?? 0) + 1);
      const answered = await thread.run(account, { name, order });
      const left = (underWay.get(account) ?? 1) - 1;
      if (left === 0) underWay.delete(account);
      else underWay.set(account, left);
      if (answered === "full" || "failed" in answered) {
        const detail = "A large payload or answer could not be read for this call. Repeat the request.";
        throw new ProblemError(problem("unavailable", detail, { retryAfterS: 1 }));
      }
      // The type of the thread's messages does not express that the answer is that of the ordered task.
      return answered.answer as Answers[typeof name];
    },
  };
};

export const answerWith = (body: object, name: string, value: Json | Uint8Array): Pick<Answer, "body" | "headers"> => {
  if (!(value instanceof Uint8Array)) return { body: { ...body, [name]: value } };
  const before = `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(name)}:`;
  return {
    body: Buffer.concat([Buffer.from(before), value, Buffer.from("}")]),
    headers: { "content-type": "application/json; charset=utf-8" },
  };
};
