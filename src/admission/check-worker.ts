/** The program of the thread that makes the expensive checks: one order after the other, each answered once. */
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { FromThread, ToThread } from "../turn-thread.ts";
import type { CheckAnswer, ThreadOrder } from "./check-protocol.ts";
import { checkDirectly } from "./checks.ts";
import { compiledPolicies } from "./compiled-policy.ts";
import { jsonOf } from "./identified.ts";

/** Linux has a priority for each thread (sched(7)): where processors are scarce, the threads that answer everybody come first. */
const yieldToOthers = (): void => {
  if (process.platform !== "linux") return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid the call: the checks are as right without it.
  }
};

yieldToOthers();

const policies = compiledPolicies();

parentPort?.on("message", ({ number, order: { order, body } }: ToThread<ThreadOrder>) => {
  const { key, definition, input, isStrict } = order;
  const compiled = policies.get(key, 0, definition);
  const question = { ...input, payload: () => jsonOf(Buffer.from(body)), body: () => body, isStrict };
  const check = checkDirectly(compiled, question);
  const answer = { check, work: compiled.work.used };
  parentPort?.postMessage({ number, answer } satisfies FromThread<CheckAnswer>);
});
