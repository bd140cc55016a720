import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL(`../../src/cli/main${extname(import.meta.url)}`, import.meta.url));

/** A command that goes on until it is stopped, and what it has printed so far. */
export type RunningCommand = {
  readonly child: ChildProcess;
  lines(): readonly string[];
  notes(): string;
  /** Its exit code; null when a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export const runningCommand = (args: readonly string[], env: Record<string, string>): RunningCommand => {
  const child = spawn(process.execPath, ["--enable-source-maps", MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    child,
    // What is behind the last line end is not a line yet.
    lines: () => stdout.split("\n").slice(0, -1),
    notes: () => stderr,
    async stop(signal = "SIGINT") {
      child.kill(signal);
      await ended;
      process.off("exit", kill);
      return child.exitCode;
    },
  };
};
