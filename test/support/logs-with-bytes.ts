import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../infra/eventstoredb/event-log.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { startEventStoreDouble } from "./eventstore-double/server.ts";
import { removeFolder, temporaryFolder } from "./program.ts";

/** A log, and what its engine keeps of it. */
export type LogWithBytes = {
  readonly log: EventLog;
  /** Closes the log. */
  close(): Promise<void>;
  /** Whether a text is among the bytes that the engine keeps; to be asked when the log is closed. */
  holds(text: string): boolean;
  /** Removes what the log has left. */
  remove?(): void;
};

export const LOGS_WITH_BYTES: Readonly<Record<string, () => Promise<LogWithBytes>>> = {
  memory: async () => {
    const log = memoryEventLog();
    let all = "";
    return {
      log,
      async close() {
        all = JSON.stringify(await log.readAll(null, 1_000_000));
      },
      holds: (text) => all.includes(text),
    };
  },
  SQLite: async () => {
    const dir = temporaryFolder();
    const log = await sqliteEventLog({ path: join(dir, "log.db") });
    return {
      log,
      close: () => log.close(),
      holds: (text) => readdirSync(dir).some((name) => readFileSync(join(dir, name)).includes(text)),
      remove: () => removeFolder(dir),
    };
  },
  EventStoreDB: async () => {
    const double = await startEventStoreDouble();
    const log = await eventStoreLog({ url: double.url });
    return {
      log,
      async close() {
        await log.close();
        await double.stop();
        double.scavenge();
      },
      holds: (text) => double.state.log.some(({ data }) => Buffer.from(data).includes(text)),
    };
  },
};
