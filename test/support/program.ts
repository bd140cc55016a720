import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = new URL("../../src/start.cjs", import.meta.url).pathname;
const START_MS = 30_000;

/** The service as a process of its own, on a data directory of its own unless one is given. */
export type Program = {
  readonly url: string;
  readonly dir: string;
  readonly pid: number;
  /** Everything it has printed. */
  output(): string;
  kill(): Promise<void>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
};

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "countersign-test-"));
export const removeFolder = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });

/** Ends with the test's process, whatever happens to the test. */
const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

export const startProgram = async (
  env: Record<string, string> = {},
  dir: string = temporaryFolder(),
): Promise<Program> => {
  const child = spawn(process.execPath, ["--enable-source-maps", MAIN], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: dir,
      DELIVERY_ALLOW_CIDRS: "127.0.0.0/8",
      SIGNUP_PLAN: "scale",
      LOG_LEVEL: "warn",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const ended = once(child, "close").then(() => {
    children.delete(child);
  });
  let output = "";
  const listening = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`did not start: ${output}`)), START_MS);
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", (code) => reject(new Error(`ended with ${code} before it listened: ${output}`)));
  });
  const url = await listening;
  return {
    url,
    dir,
    pid: child.pid ?? 0,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      return child.exitCode;
    },
  };
};

/** Waits until `condition` holds or answers something, at most `limitMs`. */
export const until = async <T>(
  what: string,
  condition: () => Promise<T> | T,
  limitMs = 15_000,
): Promise<NonNullable<T>> => {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
