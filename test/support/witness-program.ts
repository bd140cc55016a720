import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "./command-line.ts";

export type WitnessProgram = {
  readonly url: string;
  readonly vkey: string;
  /** All that it has printed. */
  output(): string;
  add(body: string): Promise<{ readonly status: number; readonly type: string | null; readonly body: string }>;
  kill(): Promise<void>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
};

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** `countersign witness` as a process of its own, on a free port. */
export const startWitness = async (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<WitnessProgram> => {
  const child = spawn(process.execPath, ["--enable-source-maps", MAIN, "witness", "--listen", "127.0.0.1:0", ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const closed = once(child, "close").finally(() => running.delete(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const found = (pattern: RegExp): string | undefined => pattern.exec(output)?.[1];
  while (found(/listening on (\S+)\n/) === undefined) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the witness ended: ${output}`);
    await Promise.race([once(child.stdout, "data"), closed]);
  }
  const url = found(/listening on (\S+)\n/) ?? "";
  return {
    url,
    vkey: found(/witness key: (\S+)\n/) ?? "",
    output: () => output,
    async add(body) {
      const response = await fetch(`${url}/add-checkpoint`, { method: "POST", body });
      return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    async stop() {
      child.kill("SIGTERM");
      await closed;
      return child.exitCode;
    },
  };
};
