/** The program of the thread that makes the expensive checks: one order after the other, each answered once. */
import { parentPort } from "node:worker_threads";
import type { ToCheckThread } from "./check-protocol.ts";
import { checkDirectly } from "./checks.ts";
import { compiledPolicies } from "./compiled-policy.ts";
import { jsonOf } from "./identified.ts";

const policies = compiledPolicies();

parentPort?.on("message", ({ number, order, body }: ToCheckThread) => {
  const { key, definition, input, isStrict } = order;
  const compiled = policies.get(key, 0, definition);
  const question = { ...input, payload: () => jsonOf(Buffer.from(body)), body: () => body, isStrict };
  const check = checkDirectly(compiled, question);
  parentPort?.postMessage({ number, check, work: compiled.work.used });
});
