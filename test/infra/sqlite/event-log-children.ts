import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The programs that the tests of the SQLite log start beside themselves. */
const program = (name: string): string =>
  fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url));

export const isInstalled = (command: string): boolean => spawnSync(command, ["--version"]).error === undefined;

/** Runs the appending program under a tracer or alone; see `event-log-appending-child.ts` for its arguments. */
export const startAppending = (args: readonly string[], tracer: readonly string[] = []): ChildProcess => {
  const [command = process.execPath, ...rest] = [...tracer, process.execPath, program("event-log-appending-child")];
  return spawn(command, [...rest, ...args], { stdio: ["ignore", "pipe", "inherit"] });
};

/** Gives `use` a directory of its own, removed afterwards. */
export const inDirectory = async (use: (directory: string) => Promise<void>): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), "event-log-"));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
