import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that the command line is. */
export const MAIN = fileURLToPath(new URL(`../../src/cli/main${extname(import.meta.url)}`, import.meta.url));

export type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** The command line as a process of its own; `started` is given it, to end it. */
export const countersign = async (
  args: readonly string[],
  { env = {}, started }: { readonly env?: Record<string, string>; started?(child: ChildProcess): void } = {},
): Promise<Ended> => {
  const child = spawn(process.execPath, ["--enable-source-maps", MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  started?.(child);
  await once(child, "close");
  process.off("exit", kill);
  return { status: child.exitCode, stdout, stderr };
};
