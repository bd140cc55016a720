import {
  acceptedPerSecond,
  CONNECTIONS,
  latencies,
  OPEN_CONNECTIONS,
  orderTo,
  sendLoad,
  type World,
} from "./bench-world.ts";
import { processorTimeOfWork } from "./processor-time.ts";
import { type Spread, spreadOf } from "./spread.ts";
import { runtimeOf, type Subject } from "./subject.ts";

export type ClosedLoop = {
  readonly perS: number;
  readonly latencyMs: Spread;
  /** Processor time (ms) of all threads of the service for one admission; null if it cannot be read. */
  readonly processorMs: number | null;
  readonly loadCpuShare: number;
  readonly rssMiB: number;
};

/** Measures A, the admissions a second if each sender sends its next webhook when the previous one is answered. */
export const measureAdmission = async (world: World, subject: Subject, seconds: number): Promise<ClosedLoop> => {
  const { pid } = subject.program;
  const order = orderTo(subject, subject.recordPath, { connections: CONNECTIONS, seconds, rate: null });
  const { result: outcome, ms } = await processorTimeOfWork(pid, () => sendLoad(world, order));
  return {
    perS: acceptedPerSecond(outcome),
    latencyMs: spreadOf(latencies(outcome)),
    processorMs: ms === null ? null : ms / outcome.accepted,
    loadCpuShare: outcome.cpuShare,
    rssMiB: (await runtimeOf(subject)).rssMiB,
  };
};

export type OpenLoop = { readonly rate: number; readonly latencyMs: Spread; readonly late: number };

export const measureLatency = async (
  world: World,
  subject: Subject,
  rate: number,
  seconds: number,
): Promise<OpenLoop> => {
  const order = orderTo(subject, subject.recordPath, { connections: OPEN_CONNECTIONS, seconds, rate });
  const outcome = await sendLoad(world, order);
  return { rate, latencyMs: spreadOf(latencies(outcome)), late: outcome.late };
};
