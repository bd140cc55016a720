import { join } from "node:path";
import type { EventLogReader } from "../../infra/sqlite/event-log-reader.ts";
import type { EventText } from "../../infra/sqlite/event-log-writer.ts";
import { parseStreamName } from "../../infra/stream-name.ts";
import { removeFolder, temporaryFolder } from "../../test/support/program.ts";
import { acceptedPerSecond, CONNECTIONS, newOrder, sendLoad, type World } from "./bench-world.ts";
import { startChild } from "./child.ts";
import type { InsertsOrder } from "./inserts.ts";

/** E: answers a second of a bare Fastify that echoes the same body to as many connections. */
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

export type Rows = Pick<InsertsOrder, "payload" | "admitted">;

/** The two rows of one admission, as they stand in the log of the service. */
export const rowsOf = (log: EventLogReader, eventId: string): Rows => {
  const first = (category: string): EventText => {
    const [event] = log.read(parseStreamName(`${category}-${eventId}`), null, 1);
    if (event === undefined) throw new Error(`the log has no ${category}-${eventId}`);
    const { id, type, data, meta } = event;
    return { id, type, data: JSON.stringify(data), meta: JSON.stringify(meta) };
  };
  return { payload: first("payload"), admitted: first("delivery") };
};

/** I: pairs of these rows a second. As many senders as the closed loop has can have as many appends waiting: one group. */
export const measureInserts = async (rows: Rows, seconds: number): Promise<number> => {
  const inserts = startChild<InsertsOrder, number>("inserts");
  const dir = temporaryFolder();
  try {
    return await inserts.ask({ path: join(dir, "log.db"), seconds, groupRows: CONNECTIONS, ...rows });
  } finally {
    await inserts.close();
    removeFolder(dir);
  }
};
