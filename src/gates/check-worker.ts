import { parentPort } from "node:worker_threads";
import { yieldToOthers } from "../threads/thread-priority.ts";
import type { FromThread, ToThread } from "../threads/turn-thread.ts";
import type { CheckAnswer, ThreadOrder } from "./check-protocol.ts";
import { checkDirectly } from "./checks.ts";
import { bytesToCompile } from "./compile-cache.ts";
import { compiledPolicies, policyCompiler } from "./compiled-policy.ts";
import { jsonOf } from "./incoming-request.ts";

yieldToOthers();

/** Units of the meter: compiling takes 8 µs a byte at worst, and a unit is 10 ns. */
const WORK_PER_BYTE = 800;

let compiling = 0;
const compile = policyCompiler();
const policies = compiledPolicies(compile, (_account, definition) => {
  compiling += WORK_PER_BYTE * bytesToCompile(definition);
  return true;
});

parentPort?.on("message", ({ number, order: { order, body } }: ToThread<ThreadOrder>) => {
  const { account, key, definition, input, isStrict } = order;
  compiling = 0;
  const compiled = policies.get(account, key, 0, definition);
  const question = { ...input, payload: () => jsonOf(Buffer.from(body)), body: () => body, isStrict };
  const check = checkDirectly(compiled, question);
  const answer = { check, work: compiled.work.used + compiling };
  parentPort?.postMessage({ number, answer } satisfies FromThread<CheckAnswer>);
});
