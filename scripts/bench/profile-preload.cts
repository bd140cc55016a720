/**
 * Node loads this file first in each thread of the service that `--profile` measures, because `--cpu-prof` writes nothing
 * for threads that are terminated. The first SIGUSR2 begins a profile of each thread, the second writes them. Each has the
 * processor time of its thread as well.
 */
import type { Profiler } from "node:inspector";
import type { WorkerOptions } from "node:worker_threads";

// `require` is used, because an ES module that is loaded before `start.cjs` would fix the size of libuv's thread pool.
const { readFileSync, writeFileSync } = require("node:fs") as typeof import("node:fs");
const { Session } = require("node:inspector") as typeof import("node:inspector");
const { syncBuiltinESMExports } = require("node:module") as typeof import("node:module");
const { join } = require("node:path") as typeof import("node:path");
const threads = require("node:worker_threads") as typeof import("node:worker_threads");

const { BENCH_PROFILE_DIR: folder, BENCH_PROFILE_THREAD: name = "main" } = process.env;
if (folder === undefined) throw new Error("BENCH_PROFILE_DIR is not set");

let isProfiling = false;

/** Loads this file in each thread, also in those that the service starts without the process's flags. */
class ProfiledWorker extends threads.Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    // Threads inherit the flags of the process, and this file with them, unless they are given their own.
    const flags = options.execArgv === undefined ? {} : { execArgv: [...options.execArgv, "--require", __filename] };
    const env = {
      ...process.env,
      BENCH_PROFILE_THREAD: options.name ?? "thread",
      BENCH_PROFILE_IS_ON: isProfiling ? "yes" : "no",
    };
    super(file, { ...options, ...flags, env });
  }
}
Object.assign(threads, { Worker: ProfiledWorker });
syncBuiltinESMExports();

const file = join(folder, `${threads.threadId}-${name}.cpuprofile`);
// The empty file says that this thread's profile is still to come.
writeFileSync(file, "");

const session = new Session();
session.connect();
session.post("Profiler.enable");

/** Nanoseconds of this thread on a processor (Linux, sched-stats.rst); 0 on a system that does not tell. */
const processorNs = (): number => {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ", 1)[0]);
  } catch {
    return 0;
  }
};
let begunNs = 0;

const begin = (): void => {
  isProfiling = true;
  begunNs = processorNs();
  session.post("Profiler.start");
};

const end = (): void => {
  session.post("Profiler.stop", (error: Error | null, stopped: Profiler.StopReturnType) => {
    if (error === null)
      writeFileSync(file, JSON.stringify({ ...stopped.profile, processorNs: processorNs() - begunNs }));
  });
};

const turn = (): void => (isProfiling ? end() : begin());

// A thread that starts during the profile has missed the signal.
if (process.env.BENCH_PROFILE_IS_ON === "yes") begin();

const channel = new threads.BroadcastChannel("bench-profile");
channel.unref();
channel.onmessage = turn;
if (threads.isMainThread) {
  process.on("SIGUSR2", () => {
    channel.postMessage("turn");
    turn();
  });
}
