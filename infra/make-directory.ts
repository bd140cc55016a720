import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const MODE = 0o700;

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Not Node's recursive `mkdirSync`, which never returns if an existing folder is reported missing, as in /proc. */
export const makeDirectory = (path: string): void => {
  const wanted = resolve(path);
  if (isDirectory(wanted)) return;
  if (dirname(wanted) !== wanted) makeDirectory(dirname(wanted));
  try {
    mkdirSync(wanted, { mode: MODE });
  } catch (error) {
    if (!isDirectory(wanted)) throw error;
  }
};
