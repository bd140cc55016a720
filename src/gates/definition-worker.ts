import { parentPort } from "node:worker_threads";
import { yieldToOthers } from "../threads/thread-priority.ts";
import type { FromThread, ToThread } from "../threads/turn-thread.ts";
import { actionCompiler } from "./compiled-action.ts";
import { policyCompiler } from "./compiled-policy.ts";
import type { DefinitionAnswer, DefinitionOrder } from "./definitions.ts";
import type { Validated } from "./policy-input.ts";

yieldToOthers();

const policy = policyCompiler();
const action = actionCompiler();

const plain = <Definition>(compiled: Validated<Definition>): Validated<Definition> =>
  compiled.ok ? { ok: true, definition: compiled.definition } : { ok: false, errors: compiled.errors };

const validated = (order: DefinitionOrder): DefinitionAnswer =>
  order.kind === "policy" ? plain(policy(order.definition)) : plain(action(order.name, order.input));

parentPort?.on("message", ({ number, order }: ToThread<DefinitionOrder>) => {
  parentPort?.postMessage({ number, answer: validated(order) } satisfies FromThread<DefinitionAnswer>);
});
