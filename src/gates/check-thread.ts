import { denied, type GateName } from "../../domain/gate/verdict.ts";
import { systemTimers, type Timers } from "../following/timers.ts";
import { turnThread } from "../threads/turn-thread.ts";
import type { CheckAnswer, CheckOrder, ThreadOrder } from "./check-protocol.ts";

export type CheckThread = {
  /** "full": too many orders of the account wait already. Never rejects: a check that cannot be made is a denial. */
  run(account: string, order: CheckOrder, body: Uint8Array): Promise<CheckAnswer | "full">;
  stop(): Promise<void>;
};

/** Orders of one account that may wait, each with its body. */
const WAITING_MAX = 32;
/** The budget of a check ends it after 0.3 s; on a machine that does other things it may take many times that. */
const ANSWER_MS = 10_000;
/** Payloads of 1 MB are some 50 MB as values of CEL at worst. */
const HEAP_MB = 256;
/** What a check that never answered is counted as. */
const LOST_WORK = 30_000_000;

const lost = ({ order: { definition } }: ThreadOrder): CheckAnswer => {
  const names: readonly GateName[] = definition.approval === undefined ? ["content"] : ["content", "approval"];
  const gates = names.map((gate) => denied(gate, "too-costly", "the payload takes too much work to check"));
  return { check: { gates, cost: null }, work: LOST_WORK };
};

/** The thread for the checks that take long. */
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
