import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

export type Child<Question, Answer> = {
  ask(question: Question): Promise<Answer>;
  tell(question: Question): void;
  readonly pid: number;
  close(): Promise<void>;
};

type Asked<Question> = { readonly id: number; readonly question: Question };
type Answered<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly error: string };

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export const startChild = <Question, Answer>(name: string): Child<Question, Answer> => {
  const program = new URL(`./${name}.js`, import.meta.url).pathname;
  // With "advanced" arrays of a hundred thousand numbers are sent without becoming JSON.
  const child = fork(program, { serialization: "advanced" });
  running.add(child);
  const waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  let ids = 0;
  child.on("message", (message: Answered<Answer>) => {
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if ("error" in message) waiter?.reject(new Error(`${name}: ${message.error}`));
    else waiter?.resolve(message.answer);
  });
  child.once("exit", (code) => {
    running.delete(child);
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended with ${code}`));
  });
  const send = (question: Question, id: number): void => {
    const message: Asked<Question> = { id, question };
    child.send(message as object);
  };
  return {
    ask(question) {
      ids += 1;
      const id = ids;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send(question, id);
      });
    },
    tell: (question) => send(question, 0),
    pid: child.pid ?? 0,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.disconnect();
      child.kill("SIGTERM");
      await exit;
    },
  };
};

export const answerParent = <Question, Answer>(answer: (question: Question) => Promise<Answer>): void => {
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ id, question }: Asked<Question>) => {
    try {
      const answered = await answer(question);
      if (id !== 0) process.send?.({ id, answer: answered });
    } catch (error) {
      if (id === 0) throw error;
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
};
