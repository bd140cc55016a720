import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../infra/eventstoredb/event-log.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { startEventStoreDouble } from "./eventstore-double/server.ts";

type OnLog = (log: EventLog) => Promise<void>;

const onSqlite = async (run: OnLog): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-log-"));
  const log = await sqliteEventLog({ path: join(directory, "log.db") });
  try {
    await run(log);
  } finally {
    await log.close();
    await rm(directory, { recursive: true });
  }
};

const onDouble = async (run: OnLog): Promise<void> => {
  const double = await startEventStoreDouble();
  const log = await eventStoreLog({ url: double.url });
  try {
    await run(log);
  } finally {
    await log.close();
    await double.stop();
  }
};

/** Runs a test's body on an empty log of each engine, one after the other. */
export const onEachLog = (run: OnLog) => async (): Promise<void> => {
  await run(memoryEventLog());
  await onSqlite(run);
  await onDouble(run);
};
