import { spawnSync } from "node:child_process";
import { until } from "../../test/support/program.ts";
import { OPEN_CONNECTIONS, orderTo, sendLoad, type World } from "./bench-world.ts";
import { monotonicMs, sleep } from "./clock.ts";
import { processorTimeOfWork } from "./processor-time.ts";
import { restarted, type Subject, upToDate } from "./subject.ts";

/** Percent of one core that the idle service takes; null on a system that does not tell. */
export const measureIdle = async (subject: Subject, seconds: number): Promise<number | null> => {
  await upToDate(subject);
  await sleep(1_000);
  const { ms } = await processorTimeOfWork(subject.program.pid, () => sleep(seconds * 1_000));
  return ms === null ? null : (ms / 1_000 / seconds) * 100;
};

export type Crash = {
  /** Number of deliveries that the receiver had not answered when the service was killed. */
  readonly inFlight: number;
  /** Seconds from the new process's start until /ready, and until the first and the last delivery is repeated. */
  readonly startS: number;
  /** Seconds that Node itself takes to start and end. */
  readonly nodeS: number;
  readonly firstAgainS: number;
  readonly allAgainS: number;
};

const nodeSeconds = (): number => {
  const from = monotonicMs();
  spawnSync(process.execPath, ["--eval", ""]);
  return (monotonicMs() - from) / 1_000;
};

const CRASH_EVENTS = 50;
const HELD_MS = 60_000;

/** Kills the service with SIGKILL during deliveries and starts it anew. Resolves with the new process. */
export const measureCrash = async (
  world: World,
  subject: Subject,
): Promise<{ readonly crash: Crash; readonly subject: Subject }> => {
  const { receiver } = world;
  const send = { connections: OPEN_CONNECTIONS, seconds: 1, rate: CRASH_EVENTS };
  const order = orderTo(subject, subject.deliverPath, send);
  await receiver.ask({ kind: "begin", run: order.run, delayMs: HELD_MS });
  const { accepted } = await sendLoad(world, order);
  const count = async (): Promise<number> => (await receiver.ask({ kind: "count" })).unique;
  await until("deliveries are in flight", async () => (await count()) > 0);
  await sleep(500);
  const inFlight = await count();
  await subject.program.kill();
  await receiver.ask({ kind: "begin", run: order.run, delayMs: 0 });
  const from = monotonicMs();
  const again = await restarted(subject);
  await until("everything is delivered again", async () => (await count()) >= accepted, 120_000);
  const { arrivals } = await receiver.ask({ kind: "arrivals" });
  const times = [...arrivals].filter((at) => !Number.isNaN(at)).map((at) => (at - from) / 1_000);
  const crash = {
    inFlight,
    startS: again.startMs / 1_000,
    nodeS: nodeSeconds(),
    firstAgainS: Math.min(...times),
    allAgainS: Math.max(...times),
  };
  return { crash, subject: again.subject };
};
