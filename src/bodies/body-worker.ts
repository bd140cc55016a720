import { parentPort } from "node:worker_threads";
import { yieldToOthers } from "../threads/thread-priority.ts";
import type { FromThread, ToThread } from "../threads/turn-thread.ts";
import type { AnyAnswer, AnyOrder } from "./body-reader.ts";
import { type Answers, type Orders, TASKS, type TaskName } from "./body-tasks.ts";

yieldToOthers();

const done = <Name extends TaskName>(name: Name, order: Orders[Name]): Answers[Name] => {
  const { run, packed = (answer) => answer } = TASKS[name];
  return packed(run(order));
};

const answered = ({ name, order }: AnyOrder): AnyAnswer => {
  try {
    return { answer: done(name, order) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on("message", ({ number, order }: ToThread<AnyOrder>) => {
  parentPort?.postMessage({ number, answer: answered(order) } satisfies FromThread<AnyAnswer>);
});
