import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { type Command, Ended, UsageError } from "./command.ts";

/** The same entry as that of `npm start`, which prepares the process before the first module is loaded. */
const ENTRY = fileURLToPath(new URL("../start.cjs", import.meta.url));
const FLAGS = ["--enable-source-maps"];
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** If a signal ended the service, the exit code is this plus the signal's number, as shells have it. */
const SIGNALLED = 128;

export const serve: Command = {
  name: "serve",
  synopsis: "[--port <port>] [--host <host>] [--data-dir <folder>]",
  summary: "runs the service",
  help: [
    "Runs the service until SIGTERM or Ctrl-C. It is configured by the environment; these options stand",
    "for the variables that change most:",
    "--port <port>          PORT; 0 chooses a free one",
    "--host <host>          HOST",
    "--data-dir <folder>    DATA_DIR",
  ],
  options: { port: { type: "string" }, host: { type: "string" }, "data-dir": { type: "string" } },
  async run({ positionals, options }, env) {
    if (positionals.length > 0) throw new UsageError("serve takes no argument.");
    const given = { PORT: options.port, HOST: options.host, DATA_DIR: options["data-dir"] };
    const set = Object.entries(given).filter(([, value]) => value !== undefined);
    const child = spawn(process.execPath, [...FLAGS, ENTRY], {
      env: { ...env, ...Object.fromEntries(set.map(([name, value]) => [name, String(value)])) },
      stdio: "inherit",
    });
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
