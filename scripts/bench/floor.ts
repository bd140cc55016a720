import { join } from "node:path";
import type { LogLocation } from "../../src/engine/open-engines.ts";
import { removeFolder, temporaryFolder } from "../../test/support/program.ts";
import type { Records } from "./admission-records.ts";
import type { AppendsOrder } from "./appends.ts";
import { acceptedPerSecond, CONNECTIONS, newOrder, sendLoad, type World } from "./bench-world.ts";
import { type Child, startChild } from "./child.ts";
import type { InsertsOrder } from "./inserts.ts";
import { processorTimeOfWork } from "./processor-time.ts";

export type Echo = {
  readonly perS: number;
  readonly loadCpuShare: number;
  /** Processor time (ms) of one answer; null if the system does not tell. */
  readonly processorMs: number | null;
};

/** Measures E, the answers a second of a bare Fastify that echoes the same body on the same number of connections. */
export const measureEcho = async (world: World, seconds: number): Promise<Echo> => {
  const echo = startChild<null, string>("echo");
  try {
    const url = await echo.ask(null);
    await sendLoad(world, newOrder(url, { connections: CONNECTIONS, seconds: 1, rate: null }));
    const order = newOrder(url, { connections: CONNECTIONS, seconds, rate: null });
    const { result: outcome, ms } = await processorTimeOfWork(echo.pid, () => sendLoad(world, order));
    return {
      perS: acceptedPerSecond(outcome),
      loadCpuShare: outcome.cpuShare,
      processorMs: ms === null ? null : ms / outcome.accepted,
    };
  } finally {
    await echo.close();
  }
};

export type Kept = { readonly perS: number; readonly processorMs: number | null };

const keptBy = async <Order>(child: Child<Order, number>, order: Order, seconds: number): Promise<Kept> => {
  const { result: perS, ms } = await processorTimeOfWork(child.pid, () => child.ask(order));
  return { perS, processorMs: ms === null ? null : ms / (perS * seconds) };
};

/** As many appends wait together as the closed loop of A has senders. */
const measureInserts = async (records: Records, seconds: number): Promise<Kept> => {
  const inserts = startChild<InsertsOrder, number>("inserts");
  const dir = temporaryFolder();
  try {
    const order = { path: join(dir, "log.db"), seconds, groupRows: CONNECTIONS, ...records };
    return await keptBy(inserts, order, seconds);
  } finally {
    await inserts.close();
    removeFolder(dir);
  }
};

const measureAppends = async (records: Records, seconds: number, url: string): Promise<Kept> => {
  const appends = startChild<AppendsOrder, number>("appends");
  try {
    return await keptBy(appends, { url, seconds, pairsAtOnce: CONNECTIONS, ...records }, seconds);
  } finally {
    await appends.close();
  }
};

/** Measures I, pairs of these records a second through the bare client of the engine; SQLite writes to another file. */
export const measureKeeping = (records: Records, seconds: number, place: LogLocation): Promise<Kept> =>
  place.engine === "sqlite" ? measureInserts(records, seconds) : measureAppends(records, seconds, place.url);
