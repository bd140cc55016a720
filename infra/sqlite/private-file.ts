import { accessSync, closeSync, constants, openSync } from "node:fs";

const MODE = 0o600;

/**
 * An existing file is not opened, because closing it would drop this process's locks on it
 * (https://sqlite.org/howtocorrupt.html, 2.2). SQLite gives the `-wal` and `-shm` the same mode.
 */
export const createPrivateFile = (path: string): void => {
  try {
    closeSync(openSync(path, "ax", MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    accessSync(path, constants.R_OK | constants.W_OK);
  }
};
