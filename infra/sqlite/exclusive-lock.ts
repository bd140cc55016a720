import { dirname } from "node:path";
import { makeDirectory } from "../make-directory.ts";
import { isBusy } from "./database-file.ts";
import { DatabaseSync } from "./driver.ts";
import { createPrivateFile } from "./private-file.ts";

export type ExclusiveLock = { release(): void };

/** Null if another process holds the lock. Any process that can read the file could hold it, so the file is private. */
export const exclusiveLock = (path: string): ExclusiveLock | null => {
  makeDirectory(dirname(path));
  createPrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => database.close() };
};
