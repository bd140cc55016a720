import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Command, Ended, UsageError } from "./command.ts";
import { checkFirstRun, FIRST_EMAIL, firstRun } from "./first-run.ts";

/** The same entry as that of `npm start`, which prepares the process before the first module is loaded. */
const ENTRY = fileURLToPath(new URL("../start.cjs", import.meta.url));
/**
 * By default V8's helper threads mark and sweep the heap of every thread. Ours are small, so waking the helpers and
 * dividing the work costs a tenth of the processor time of an event; with this flag each thread collects its own heap.
 * V8 takes it at its start alone. A service without it works as well.
 */
const COLLECT_ALONE = "--single-threaded-gc";
/** glibc gives each thread an arena of its own, most of which stays unused: with two, the process takes 20 MiB less. */
const FEW_ARENAS = { MALLOC_ARENA_MAX: "2" };
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** If a signal ended the service, the exit code is this plus the signal's number, as shells have it. */
const SIGNALLED = 128;

const LISTENING = /^Countersign \S+ listening on (http:\S+)$/;

/** Prints what the service prints, and calls `listens` once with its address. */
const passOn = async (output: Readable, listens: (base: string) => Promise<void>): Promise<void> => {
  let isFound = false;
  for await (const line of createInterface({ input: output })) {
    process.stdout.write(`${line}\n`);
    const base = isFound ? undefined : LISTENING.exec(line)?.[1];
    if (base === undefined) continue;
    isFound = true;
    // A service that listens on all addresses is reached on this machine's own.
    void listens(base.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"));
  }
};

export const serve: Command = {
  synopsis: "[--port <port>] [--host <host>] [--data-dir <folder>] [--first-run [--email <address>]]",
  help: [
    "Runs the service until SIGTERM or Ctrl-C. It is configured by the environment; these options stand",
    "for the variables that change most:",
    "--port <port>          PORT; 0 chooses a free one",
    "--host <host>          HOST",
    "--data-dir <folder>    DATA_DIR",
    "--first-run            makes an account with a source, a link for its owner, and a profile with a key for",
    "                       this command line, in a file of the user's own; the second time it makes that profile",
    "                       the current one, and nothing else",
    `--email <address>      the owner's, with --first-run; default: ${FIRST_EMAIL}`,
  ],
  options: {
    port: { type: "string" },
    host: { type: "string" },
    "data-dir": { type: "string" },
    "first-run": { type: "boolean" },
    email: { type: "string" },
  },
  async run({ positionals, options }, env, terminal) {
    if (positionals.length > 0) throw new UsageError("serve takes no argument.");
    const isFirst = options["first-run"] === true;
    if (!isFirst && options.email !== undefined) throw new UsageError("--email is for --first-run alone.");
    const given = { PORT: options.port, HOST: options.host, DATA_DIR: options["data-dir"] };
    const set = Object.entries(given).filter(([, value]) => value !== undefined);
    const served = { ...FEW_ARENAS, ...env, ...Object.fromEntries(set.map(([name, value]) => [name, String(value)])) };
    const email = String(options.email ?? FIRST_EMAIL);
    if (isFirst) checkFirstRun(served, email);
    const child = spawn(process.execPath, [COLLECT_ALONE, ENTRY], {
      env: served,
      stdio: ["inherit", isFirst ? "pipe" : "inherit", "inherit"],
    });
    if (child.stdout !== null) void passOn(child.stdout, (base) => firstRun(base, email, served, terminal));
    // Ctrl-C at a terminal reaches the service by itself, and a second signal would keep it from finishing in order.
    const forward = (signal: NodeJS.Signals): void => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    for (const name of SIGNALS) process.off(name, forward);
    const status = code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]);
    if (status !== 0) throw new Ended(status);
  },
};
