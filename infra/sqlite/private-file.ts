import { accessSync, closeSync, constants, openSync } from "node:fs";

const MODE = 0o600;

/**
 * Makes a file for SQLite, readable by its owner alone. SQLite gives the `-wal` and `-shm` its mode, and would make the
 * file itself one that everybody may read. Throws what the system says, also of a file that is there and may not be read
 * and written.
 *
 * One that is there is not even opened: to close it would drop the locks that this process has on it, through whatever
 * connection (https://sqlite.org/howtocorrupt.html, section 2.2), and whoever looks into the log then takes himself for
 * the last one, and removes the WAL that is still appended to.
 */
export const createPrivateFile = (path: string): void => {
  try {
    closeSync(openSync(path, "ax", MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    accessSync(path, constants.R_OK | constants.W_OK);
  }
};
