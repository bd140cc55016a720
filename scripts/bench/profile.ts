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

const profiled = (set: EngineSet, folder: string): EngineSet => ({
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

const tablesOf = (folder: string): readonly string[] =>
  profilesIn(folder)
    .filter((name) => sizeOf(folder, name) > 0)
    .map((name) => {
      const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile;
      return { thread: name.slice(0, -ENDING.length), times: selfTimesOf(profile, ROOT) };
    })
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
    process.kill(subject.program.pid, "SIGUSR2");
    const cost = await DELIVERED.measure(world, subject, order.seconds);
    process.kill(subject.program.pid, "SIGUSR2");
    const isWritten = (): boolean => profilesIn(folder).every((name) => sizeOf(folder, name) > 0);
    await until("all threads have written their profiles", isWritten, WRITE_LIMIT_MS);
    return [headOf(cost, folder), ...tablesOf(folder)].join("\n\n");
  } finally {
    await close(subject);
  }
};
