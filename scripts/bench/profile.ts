import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "../../test/support/program.ts";
import type { World } from "./bench-world.ts";
import type { EngineSet } from "./engines.ts";
import { type CpuProfile, type SelfTimes, selfTimesOf } from "./self-times.ts";
import { close, setUp } from "./subject.ts";
import { amount, microseconds, table } from "./table.ts";
import { type Cost, DELIVERED } from "./workloads.ts";

export type ProfileOrder = { readonly folder: string; readonly seconds: number; readonly say: (text: string) => void };

const PRELOAD = new URL("./profile-preload.cjs", import.meta.url).pathname;
const ROOT = new URL("../../..", import.meta.url).pathname;
const ENDING = ".cpuprofile";
const WARM_UP_S = 3;
const WRITE_LIMIT_MS = 20_000;
const FUNCTIONS = 15;

/** The engines, with a service whose threads can be profiled into this folder. */
export const profiled = (set: EngineSet, folder: string): EngineSet => ({
  ...set,
  async open() {
    const engines = await set.open();
    const env = { ...engines.env, BENCH_PROFILE_DIR: folder };
    return { ...engines, env, flags: ["--require", PRELOAD] };
  },
});

const profilesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.endsWith(ENDING));

/** Removes earlier profiles, because a thread that no longer exists would otherwise seem to be one of this service. */
const emptied = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const name of profilesIn(folder)) rmSync(join(folder, name));
};

const sizeOf = (folder: string, name: string): number => statSync(join(folder, name)).size;

export const selfTimeTable = (thread: string, { busyMs, functions }: SelfTimes): string =>
  table(
    [`${thread}: ${amount(busyMs)} ms not idle`, "self ms", "%", "at"],
    functions
      .slice(0, FUNCTIONS)
      .map(({ name, place, ms }) => [name, amount(ms), amount((100 * ms) / Math.max(busyMs, 1)), place]),
  );

const isWritten = (folder: string): boolean => profilesIn(folder).every((name) => sizeOf(folder, name) > 0);

/** Runs `work` while each thread of the process is profiled; the folder then has the profiles. */
export const profiledWork = async <T>(pid: number, folder: string, work: () => Promise<T>): Promise<T> => {
  process.kill(pid, "SIGUSR2");
  const result = await work();
  process.kill(pid, "SIGUSR2");
  await until("all threads have written their profiles", () => isWritten(folder), WRITE_LIMIT_MS);
  return result;
};

/** The profiles of the folder by the names of their threads. */
export const profilesOf = (folder: string): readonly { readonly thread: string; readonly profile: CpuProfile }[] =>
  profilesIn(folder)
    .filter((name) => sizeOf(folder, name) > 0)
    .map((name) => ({
      thread: name.slice(0, -ENDING.length),
      profile: JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile, // The preload has written it.
    }));

const tablesOf = (folder: string): readonly string[] =>
  profilesOf(folder)
    .map(({ thread, profile }) => ({ thread, times: selfTimesOf(profile, ROOT) }))
    .sort((a, b) => b.times.busyMs - a.times.busyMs)
    .map(({ thread, times }) => selfTimeTable(thread, times));

const headOf = ({ events, perS, processorMs }: Cost, folder: string): string => {
  const time = processorMs === null ? "" : `, ${microseconds(processorMs)} of processor time each`;
  return `${events} events delivered and folded, ${amount(perS)}/s${time}, while being profiled; profiles in ${folder}`;
};

/** Writes a CPU profile of each thread under the full delivered load. Resolves with the functions that took longest. */
export const measureProfile = async (world: World, set: EngineSet, order: ProfileOrder): Promise<string> => {
  const folder = resolve(order.folder);
  emptied(folder);
  const subject = await setUp(world.receiverPort, profiled(set, folder));
  try {
    order.say("warming up");
    await DELIVERED.measure(world, subject, WARM_UP_S);
    order.say("profiling");
    const { pid } = subject.program;
    const cost = await profiledWork(pid, folder, () => DELIVERED.measure(world, subject, order.seconds));
    return [headOf(cost, folder), ...tablesOf(folder)].join("\n\n");
  } finally {
    await close(subject);
  }
};
