import { dirname } from "node:path";
import { makeDirectory } from "../make-directory.ts";
import { DatabaseSync } from "./driver.ts";
import { createPrivateFile } from "./private-file.ts";

export type ExclusiveLock = { release(): void };

const SQLITE_BUSY = 5;

const isBusy = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "errcode" in error && error.errcode === SQLITE_BUSY;

/**
 * Holds a lock file for as long as the process lives, or answers null when another process holds it. SQLite's own file
 * lock is used because the system drops it with the process, however that ends: nothing stale is ever left behind.
 * Whoever may read the file could hold it as well, so that is its owner alone.
 */
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
