import { denied, type GateName } from "../../domain/gate/verdict.ts";
import { systemTimers, type Timers } from "../following/timers.ts";
import { turnThread } from "../threads/turn-thread.ts";
import type { CheckAnswer, CheckOrder, ThreadOrder } from "./check-protocol.ts";

export type CheckThread = {
  /** Answers "full" if too many orders of the account wait. Never rejects: a check that fails is a denial. */
  run(account: string, order: CheckOrder, body: Uint8Array): Promise<CheckAnswer | "full">;
  stop(): Promise<void>;
};

const WAITING_MAX = 32;
/**
 * Milliseconds after which a check is given up. The meter ends a check after 0.3 s of work, which may take many times
 * as long on a busy machine.
 */
const ANSWER_MS = 10_000;
const HEAP_MB = 256;
/** Units of the meter: a check that never answers is charged what the most expensive check may use. */
const LOST_WORK = 30_000_000;

const lost = ({ order: { definition } }: ThreadOrder): CheckAnswer => {
  const names: readonly GateName[] = definition.approval === undefined ? ["content"] : ["content", "approval"];
  const gates = names.map((gate) => denied(gate, "too-costly", "the payload takes too much work to check"));
  return { check: { gates, cost: null }, work: LOST_WORK };
};

export const checkThread = (timers: Pick<Timers, "after"> = systemTimers): CheckThread => {
  const thread = turnThread<ThreadOrder, CheckAnswer>(
    {
      ...{ name: "checks", program: new URL("./check-worker", import.meta.url) },
      ...{ waitingMax: WAITING_MAX, heapMb: HEAP_MB, answerMs: ANSWER_MS, lost },
    },
    timers,
  );
  return {
    run: (account, order, body) => thread.run(account, { order, body }),
    stop: () => thread.stop(),
  };
};
