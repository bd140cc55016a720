import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The service as a process, started as `npm start` starts it in its checkout. */
export type Service = {
  /** Empty if its roles do not listen. */
  readonly url: string;
  readonly dir: string;
  readonly pid: number;
  kill(): Promise<void>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
};

export type ServiceOrder = {
  readonly env: Readonly<Record<string, string>>;
  readonly dir: string;
  /** A checkout in which `npm run build` has run; undefined for the one of this benchmark. */
  readonly checkout?: string;
  /** More flags for node, before those of the `start` script. */
  readonly flags?: readonly string[];
};

const HERE = new URL("../../..", import.meta.url).pathname;
const PROGRAM = "build/src/start.cjs";
const START = /\bnode\s+((?:--\S+\s+)*)build\/src\/start\.cjs/;
const READY = /^Countersign \S+ (?:listening on (http:\/\/\S+)|runs \S+)$/m;
/** Longer than any start, even one that converts or indexes a log of ten million events (ms). */
const START_MS = 600_000;
const TAIL_CHARACTERS = 4_000;

/** Node's flags in the `start` script of a package.json. */
export const startFlags = (packageJson: string): readonly string[] => {
  const { scripts } = JSON.parse(packageJson) as { readonly scripts?: { readonly start?: string } };
  const flags = START.exec(scripts?.start ?? "")?.[1];
  if (flags === undefined) throw new Error(`package.json has no start script that runs node with ${PROGRAM}`);
  return flags.split(/\s+/).filter((flag) => flag !== "");
};

const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const spawnService = ({ env, dir, checkout = HERE, flags = [] }: ServiceOrder) => {
  const nodeFlags = startFlags(readFileSync(join(checkout, "package.json"), "utf8"));
  // LOG_LEVEL is not set, because the default is what users run.
  const child = spawn(process.execPath, [...flags, ...nodeFlags, join(checkout, PROGRAM)], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: dir,
      DELIVERY_ALLOW_CIDRS: "127.0.0.0/8",
      SIGNUP_PLAN: "scale",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
};

/** Its output is read, as a container's is, and only its end is kept, to be shown if the service ends unexpectedly. */
export const startService = async (order: ServiceOrder): Promise<Service> => {
  const child = spawnService(order);
  const ended = once(child, "close");
  let tail = "";
  let isExpected = false;
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the service did not start: ${tail}`));
    }, START_MS);
    const read = (chunk: Buffer): void => {
      tail = (tail + chunk.toString()).slice(-TAIL_CHARACTERS);
      const found = READY.exec(tail);
      if (found === null) return;
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream.off("data", read).resume();
      child.stderr.on("data", (later: Buffer) => process.stderr.write(later));
      resolve(found[1] ?? "");
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", read);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`the service ended with ${code ?? signal} before it listened: ${tail}`));
      if (!isExpected) console.error(`bench: the service ended with ${code ?? signal}`);
    });
  });
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<number | null> => {
    isExpected = true;
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    url,
    dir: order.dir,
    pid: child.pid ?? 0,
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
};
