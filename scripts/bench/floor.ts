import { join } from "node:path";
import type { LogLocation } from "../../src/engine/open-engines.ts";
import { removeFolder, temporaryFolder } from "../../test/support/program.ts";
import type { Records } from "./admission-records.ts";
import type { AppendsOrder } from "./appends.ts";
import { acceptedPerSecond, CONNECTIONS, newOrder, sendLoad, type World } from "./bench-world.ts";
import { startChild } from "./child.ts";
import type { InsertsOrder } from "./inserts.ts";

/** Measures E, the answers a second of a bare Fastify that echoes the same body on the same number of connections. */
export const measureEcho = async (world: World, seconds: number): Promise<{ perS: number; loadCpuShare: number }> => {
  const echo = startChild<null, string>("echo");
  try {
    const url = await echo.ask(null);
    await sendLoad(world, newOrder(url, { connections: CONNECTIONS, seconds: 1, rate: null }));
    const outcome = await sendLoad(world, newOrder(url, { connections: CONNECTIONS, seconds, rate: null }));
    return { perS: acceptedPerSecond(outcome), loadCpuShare: outcome.cpuShare };
  } finally {
    await echo.close();
  }
};

/** As many appends wait together as the closed loop of A has senders. */
const measureInserts = async (records: Records, seconds: number): Promise<number> => {
  const inserts = startChild<InsertsOrder, number>("inserts");
  const dir = temporaryFolder();
  try {
    return await inserts.ask({ path: join(dir, "log.db"), seconds, groupRows: CONNECTIONS, ...records });
  } finally {
    await inserts.close();
    removeFolder(dir);
  }
};

const measureAppends = async (records: Records, seconds: number, url: string): Promise<number> => {
  const appends = startChild<AppendsOrder, number>("appends");
  try {
    return await appends.ask({ url, seconds, pairsAtOnce: CONNECTIONS, ...records });
  } finally {
    await appends.close();
  }
};

/** Measures I, pairs of these records a second through the bare client of the engine; SQLite writes to another file. */
export const measureKeeping = (records: Records, seconds: number, place: LogLocation): Promise<number> =>
  place.engine === "sqlite" ? measureInserts(records, seconds) : measureAppends(records, seconds, place.url);
