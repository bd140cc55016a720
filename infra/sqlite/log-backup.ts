import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openReading } from "./event-log-schema.ts";
import { createPrivateFile } from "./private-file.ts";

const sync = (path: string): void => {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
};

/**
 * Copies a log as it is at one moment into the file `to`, while a service may append to it. One transaction reads all of it.
 * SQLite's backup interface would begin again at each append of another process, and might never end
 * (https://sqlite.org/backup.html). The copy appears under its name once it is complete and synced.
 */
export const backUpLog = (path: string, to: string): void => {
  const draft = `${to}.incomplete`;
  const log = openReading(path);
  try {
    createPrivateFile(draft);
    log.prepare("VACUUM INTO ?").run(draft);
    sync(draft);
    renameSync(draft, to);
    sync(dirname(to));
  } finally {
    log.close();
    rmSync(draft, { force: true });
  }
};
