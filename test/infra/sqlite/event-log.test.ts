import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { eventLogContract } from "../../contract/event-log.ts";

const directory = mkdtempSync(join(tmpdir(), "event-log-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

let opened = 0;
eventLogContract("sqlite, a new file each", async () => {
  opened += 1;
  return sqliteEventLog({ path: join(directory, `${opened}.db`) });
});

// As after a restart, with what the cases before have left.
eventLogContract("sqlite, one file for all", () => sqliteEventLog({ path: join(directory, "shared.db") }));
