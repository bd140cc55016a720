import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What is kept there is the business of nobody else on the machine. */
const MODE = 0o700;

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a folder, with those above it. Throws what the system says. Node's own recursive `mkdirSync` never returns where
 * no folder can be made in one that is there and the system gives "no such file" as the reason, as below /proc.
 */
export const makeDirectory = (path: string): void => {
  const wanted = resolve(path);
  if (isDirectory(wanted)) return;
  if (dirname(wanted) !== wanted) makeDirectory(dirname(wanted));
  try {
    mkdirSync(wanted, { mode: MODE });
  } catch (error) {
    // Another process may have been first.
    if (!isDirectory(wanted)) throw error;
  }
};
