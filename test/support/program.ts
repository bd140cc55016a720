import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { ED25519, formatSignerKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

const KEY = verifierKey(sha256, "localhost/instance", ED25519, ed25519Signer(new Uint8Array(32)).publicKey);
const AUDIT_KEY = formatSignerKey({ name: KEY.name, keyId: KEY.keyId, type: ED25519, seed: new Uint8Array(32) });

const MAIN = new URL("../../src/start.cjs", import.meta.url).pathname;
/** Far more than a start takes beside any number of other tests. */
const START_MS = 120_000;

/** The service as a process of its own, on a data directory of its own unless one is given. */
export type Program = {
  /** Empty when its roles do not listen. */
  readonly url: string;
  readonly dir: string;
  readonly pid: number;
  /** Everything it has printed. */
  output(): string;
  kill(): Promise<void>;
  /** SIGTERM unless told otherwise, and its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "countersign-test-"));
export const removeFolder = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });

/** Ends with the test's process, whatever happens to the test. */
const children = new Set<ChildProcess>();
/** What a failed test has left running would keep its file from ending. */
export const killPrograms = (): void => {
  for (const child of children) child.kill("SIGKILL");
};
process.on("exit", killPrograms);
process.once("SIGTERM", () => process.exit(1));

/** The signing key of all nodes that tests start on a server's log, in a file in the node's folder. */
const givenAuditKey = (dir: string): string => {
  const path = join(dir, "given-audit-key");
  mkdirSync(dir, { recursive: true });
  writeFileSync(path, `${AUDIT_KEY}\n`, { mode: 0o600 });
  return path;
};

/** `via`: a command that runs the program in its own place, as strace or setpriv do. */
export const spawnProgram = (
  env: Record<string, string>,
  dir: string,
  via: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> => {
  const [command = process.execPath, ...args] = [...via, process.execPath, MAIN];
  const signing = env.EVENTSTORE_URL === undefined ? {} : { AUDIT_KEY_FILE: givenAuditKey(dir) };
  const child = spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: dir,
      DELIVERY_ALLOW_CIDRS: "127.0.0.0/8",
      SIGNUP_PLAN: "scale",
      LOG_LEVEL: "warn",
      ...signing,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
};

/** Runs the program until it ends by itself, as it does when it cannot start. */
export const runProgram = async (
  env: Record<string, string>,
  dir: string,
  via: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> => {
  const child = spawnProgram(env, dir, via);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  await once(child, "close");
  clearTimeout(timer);
  return { code: child.exitCode, stdout, stderr };
};

/** Each route lists the problems that it can answer: the program logs an answer that is not in the list. */
const failOnUnlisted = (output: string): void => {
  const [line] = output.match(/^.*is not among its problems.*$/m) ?? [];
  if (line !== undefined) throw new Error(line);
};

export const startProgram = async (
  env: Record<string, string> = {},
  dir: string = temporaryFolder(),
  via: readonly string[] = [],
): Promise<Program> => {
  const child = spawnProgram(env, dir, via);
  const ended = once(child, "close");
  let output = "";
  const ready = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`did not start: ${output}`)), START_MS);
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /^Countersign \S+ (?:listening on (http:\/\/\S+)|runs \S+)$/m.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[1] ?? "");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code} before it listened: ${output}`));
    });
  });
  const url = await ready;
  return {
    url,
    dir,
    pid: child.pid ?? 0,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await ended;
      failOnUnlisted(output);
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
      failOnUnlisted(output);
      return child.exitCode;
    },
  };
};

/** What takes a second alone takes many beside other tests; only what never comes about is to fail. */
const UNTIL_MS = 120_000;

/** Waits until `condition` holds or answers something, at most `limitMs`. */
export const until = async <T>(
  what: string,
  condition: () => Promise<T> | T,
  limitMs = UNTIL_MS,
): Promise<NonNullable<T>> => {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
