import { acceptedPerSecond, CONNECTIONS, OPEN_CONNECTIONS, orderTo, sendLoad, type World } from "./bench-world.ts";
import { sleep } from "./clock.ts";
import { processorTimeOfWork } from "./processor-time.ts";
import { queuedOf, runtimeOf, type Subject } from "./subject.ts";

/** What one event took, on average, from its request until the views have folded its records. */
export type Cost = {
  readonly events: number;
  /** Admitted or delivered events a second while the load ran. */
  readonly perS: number;
  /** Milliseconds of processor time (user and system, all threads of the service); null if the system does not tell. */
  readonly processorMs: number | null;
};

export type Workload = {
  readonly key: "admission" | "delivered" | "light";
  readonly name: string;
  /** Events a second of an open loop; null for a closed loop. */
  readonly rate: number | null;
  /** `pid` is the process whose time is counted, if not the subject's. */
  measure(world: World, subject: Subject, seconds: number, pid?: number): Promise<Cost>;
};

/** At most this many events are admitted but not delivered: some 16 for each concurrent delivery. */
export const WINDOW = 512;
const CREDIT_MS = 10;
/** Milliseconds between looks at the views. Each look costs the measured service something, so they are rare. */
const LOOK_MS = 100;
const SETTLE_LIMIT_MS = 600_000;

type Done = { readonly events: number; readonly perS: number };

const waitFor = async (what: string, lookMs: number, isSo: () => Promise<boolean>): Promise<void> => {
  for (const limit = Date.now() + SETTLE_LIMIT_MS; !(await isSo()); await sleep(lookMs)) {
    if (Date.now() > limit) throw new Error(`waited ${SETTLE_LIMIT_MS} ms in vain until ${what}`);
  }
};

const folded = async (subject: Subject): Promise<void> => {
  await sleep(LOOK_MS);
  // The receiver has an event before the log has its end, which lowers the number of queued events.
  const isFolded = async (): Promise<boolean> =>
    (await runtimeOf(subject)).lagEvents === 0 && (await queuedOf(subject)) === 0;
  await waitFor("the views are up to date", LOOK_MS, isFolded);
};

const allDelivered = ({ receiver }: World, accepted: number): Promise<void> =>
  waitFor("everything is delivered", CREDIT_MS, async () => (await receiver.ask({ kind: "count" })).unique >= accepted);

const costOf = async (subject: Subject, work: () => Promise<Done>, pid = subject.program.pid): Promise<Cost> => {
  const { result, ms } = await processorTimeOfWork(pid, async () => {
    const done = await work();
    await folded(subject);
    return done;
  });
  return { ...result, processorMs: ms === null ? null : ms / result.events };
};

type Work = (world: World, subject: Subject, seconds: number) => Promise<Done>;

const admitAll: Work = async (world, subject, seconds) => {
  const order = orderTo(subject, subject.recordPath, { connections: CONNECTIONS, seconds, rate: null });
  const outcome = await sendLoad(world, order);
  return { events: outcome.accepted, perS: acceptedPerSecond(outcome) };
};

/** Sends in a closed loop whose senders pause while they are `WINDOW` events ahead of the receiver. */
const deliverAll: Work = async (world, subject, seconds) => {
  const { load, receiver } = world;
  const send = { connections: CONNECTIONS, seconds, rate: null, credit: WINDOW };
  const order = orderTo(subject, subject.deliverPath, send);
  await receiver.ask({ kind: "begin", run: order.run, delayMs: 0 });
  let isOver = false;
  const sending = sendLoad(world, order).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { unique } = await receiver.ask({ kind: "count" });
    load.tell({ credit: unique + WINDOW });
    await sleep(CREDIT_MS);
  }
  const { accepted, startedAt, endedAt } = await sending;
  await allDelivered(world, accepted);
  const { arrivals } = await receiver.ask({ kind: "arrivals" });
  const inTime = arrivals.reduce((count, at) => (at <= endedAt ? count + 1 : count), 0);
  return { events: accepted, perS: inTime / ((endedAt - startedAt) / 1_000) };
};

const admitAt =
  (rate: number): Work =>
  async (world, subject, seconds) => {
    const send = { connections: OPEN_CONNECTIONS, seconds, rate };
    const { accepted } = await sendLoad(world, orderTo(subject, subject.recordPath, send));
    return { events: accepted, perS: accepted / seconds };
  };

const deliverAt =
  (rate: number): Work =>
  async (world, subject, seconds) => {
    const order = orderTo(subject, subject.deliverPath, { connections: OPEN_CONNECTIONS, seconds, rate });
    await world.receiver.ask({ kind: "begin", run: order.run, delayMs: 0 });
    const { accepted } = await sendLoad(world, order);
    await allDelivered(world, accepted);
    return { events: accepted, perS: accepted / seconds };
  };

const workload = (what: Pick<Workload, "key" | "name" | "rate">, work: Work): Workload => ({
  ...what,
  measure: (world, subject, seconds, pid) => costOf(subject, () => work(world, subject, seconds), pid),
});

/** Events a second. */
export const RATES = { low: 100, usual: 430 } as const;

export const admissionsAt = (rate: number): Workload =>
  workload({ key: "admission", name: `admission at ${rate}/s`, rate }, admitAt(rate));
export const deliveredAt = (rate: number): Workload =>
  workload({ key: "light", name: `delivered at ${rate}/s`, rate }, deliverAt(rate));
export const ADMISSION = workload({ key: "admission", name: "admission", rate: null }, admitAll);
export const DELIVERED = workload({ key: "delivered", name: "delivered", rate: null }, deliverAll);
export const WORKLOADS: readonly Workload[] = [ADMISSION, DELIVERED, deliveredAt(RATES.low), deliveredAt(RATES.usual)];

/** Those that `only` names, separated by commas; all of them if it is empty. */
export const workloadsNamed = (only: string): readonly Workload[] => {
  const keys = only.split(",").filter((key) => key !== "");
  const unknown = keys.find((key) => !WORKLOADS.some((workload) => workload.key === key));
  if (unknown !== undefined) throw new Error(`--only takes admission, delivered and light, not ${unknown}`);
  return keys.length === 0 ? WORKLOADS : WORKLOADS.filter(({ key }) => keys.includes(key));
};
