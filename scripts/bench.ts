/**
 * Measures the service on this machine: its throughput, compared with bare HTTP and bare storage, the latency for senders
 * and receivers, and both as the log grows. The service, the load and the receiver run in separate processes.
 *
 * `npm run bench -- --help` lists what it can measure.
 *
 * The benchmark creates and drops a database and a topic next to the configured ones. Figures are comparable only
 * within one run.
 */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "../src/config-error.ts";
import { measureAgainst, measureEngineRatio } from "./bench/against.ts";
import { measureAttacks } from "./bench/attack.ts";
import { openWorld, type World } from "./bench/bench-world.ts";
import { measureBeside } from "./bench/beside.ts";
import { bytesOfBoth, eventsThatFit, freeBytes } from "./bench/disk.ts";
import { type EngineSet, enginesToMeasure } from "./bench/engines.ts";
import { EXIT_USAGE, flagsOf } from "./bench/flags.ts";
import { measureEcho } from "./bench/floor.ts";
import { type Growth, measureGrowth } from "./bench/growth.ts";
import { growthRows, growthTable } from "./bench/growth-report.ts";
import { type Lengths, measureOne } from "./bench/measure-one.ts";
import type { Measured } from "./bench/measured.ts";
import { measureProfile } from "./bench/profile.ts";
import { printed, type Report } from "./bench/report.ts";
import { measureSealing, sealingTable } from "./bench/sealing.ts";
import { amount, figures } from "./bench/table.ts";
import { type PairOutcome, pairTable, type TurnsOrder } from "./bench/turns.ts";
import { workloadsNamed } from "./bench/workloads.ts";

const FULL: Lengths = { floor: 8, admission: 15, sustained: 60, open: 15, light: 8, idle: 10, growth: 15 };
const QUICK: Lengths = { floor: 2, admission: 4, sustained: 8, open: 3, light: 2, idle: 3, growth: 3 };
const SIZES_FULL = [10_000, 100_000];
const SIZES_QUICK = [1_000, 5_000];
const SMALL = 10_000;
/** Admissions a second while the log grows. The rate is equal for all sizes and well below any machine's limit. */
const GROWTH_RATE = 500;

const asked = flagsOf(process.argv.slice(2));
if ("text" in asked) {
  (asked.exitCode === 0 ? console.log : console.error)(asked.text);
  process.exit(asked.exitCode);
}
const { flags } = asked;

const sizes = (): readonly number[] => {
  if (flags.events === undefined) return flags.quick ? SIZES_QUICK : SIZES_FULL;
  const events = Number(flags.events);
  if (!Number.isInteger(events) || events < 1)
    throw new ConfigError(`--events takes a whole number, not ${flags.events}`);
  return events > SMALL ? [SMALL, events] : [events];
};

const say = (text: string): void => console.error(`bench: ${text}`);

const fitting = (wanted: number, smaller: Growth | undefined): number => {
  if (smaller === undefined) return wanted;
  const bytes = bytesOfBoth(smaller.bytesPerEvent);
  const events = eventsThatFit(wanted, bytes, freeBytes());
  if (events < wanted) say(`the disk has room for ${events} events of ${bytes?.toFixed(0)} bytes, not for ${wanted}`);
  return events;
};

const measureSizes = async (world: World, set: EngineSet, lengths: Lengths): Promise<readonly Growth[]> => {
  const growth: Growth[] = [];
  for (const wanted of sizes()) {
    const events = fitting(wanted, growth.at(-1));
    say(`a log of ${events} events`);
    growth.push(await measureGrowth(world, set, { events, rate: GROWTH_RATE, seconds: lengths.growth }));
  }
  return growth;
};

const measure = async (world: World, set: EngineSet, lengths: Lengths): Promise<Measured> => {
  say(`the ${set.name} engines`);
  const one = await measureOne(world, set, lengths, say);
  return { ...one, growth: await measureSizes(world, set, lengths) };
};

const runGrowth = async (sets: readonly EngineSet[], lengths: Lengths): Promise<void> => {
  const world = await openWorld();
  try {
    const { perS } = await measureEcho(world, lengths.floor);
    for (const set of sets) {
      const growth = await measureSizes(world, set, lengths);
      console.log(`${growthTable(growth)}\n\n${figures(growthRows(growth, perS))}`);
      if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(growth, null, 2)}\n`);
    }
  } finally {
    await world.close();
  }
};

const ROUNDS_FULL = { rounds: 12, seconds: 4 };
const ROUNDS_AGAINST = { rounds: 5, seconds: 4 };
const ROUNDS_QUICK = { rounds: 3, seconds: 2 };

const roundsToRun = (full = ROUNDS_FULL): typeof ROUNDS_FULL => {
  const usual = flags.quick ? ROUNDS_QUICK : full;
  if (flags.rounds === undefined) return usual;
  const rounds = Number(flags.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new ConfigError(`--rounds takes a whole number, not ${flags.rounds}`);
  return { ...usual, rounds };
};

const runBeside = async (sets: readonly EngineSet[]): Promise<void> => {
  const world = await openWorld();
  try {
    for (const set of sets) {
      for (const outcome of await measureBeside(world, set, { ...roundsToRun(), say })) console.log(pairTable(outcome));
    }
  } finally {
    await world.close();
  }
};

const loadLine = (): string => `load averages of the machine ${loadavg().map(amount).join(", ")}`;

type Pairing = (world: World, set: EngineSet, order: TurnsOrder) => Promise<PairOutcome>;

const runPairs = async (sets: readonly EngineSet[], measureTwo: Pairing): Promise<void> => {
  const workloads = workloadsNamed(flags.only);
  const world = await openWorld();
  try {
    say(loadLine());
    for (const set of sets) {
      const order = { workloads, ...roundsToRun(ROUNDS_AGAINST), say };
      const outcome = await measureTwo(world, set, order);
      console.log(pairTable(outcome));
      if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(outcome, null, 2)}\n`);
    }
    say(loadLine());
  } finally {
    await world.close();
  }
};

const runAttacks = async (sets: readonly EngineSet[]): Promise<void> => {
  const world = await openWorld();
  try {
    for (const set of sets) {
      console.log(await measureAttacks(world, set, { ...roundsToRun(), only: flags.only, say }));
    }
  } finally {
    await world.close();
  }
};

const PROFILE_S = { full: 10, quick: 4 };

const runProfile = async (sets: readonly EngineSet[], folder: string): Promise<void> => {
  const world = await openWorld();
  try {
    const seconds = flags.quick ? PROFILE_S.quick : PROFILE_S.full;
    for (const set of sets) {
      const under = sets.length === 1 ? folder : join(folder, set.name);
      console.log(await measureProfile(world, set, { folder: under, seconds, say }));
    }
  } finally {
    await world.close();
  }
};

const SEALING_S = { full: 20, quick: 6 };

const runSealing = async (sets: readonly EngineSet[]): Promise<void> => {
  const world = await openWorld();
  try {
    say(loadLine());
    for (const set of sets) {
      const sealing = await measureSealing(world, set, {
        seconds: flags.quick ? SEALING_S.quick : SEALING_S.full,
        say,
      });
      console.log(sealingTable(sealing));
      if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(sealing, null, 2)}\n`);
    }
    say(loadLine());
  } finally {
    await world.close();
  }
};

const run = async (): Promise<void> => {
  const lengths = flags.quick ? QUICK : FULL;
  const sets = await enginesToMeasure(process.env, flags);
  if (flags.attack) return runAttacks(sets);
  const { against } = flags;
  if (against !== undefined) {
    return runPairs(sets, (world, set, order) => measureAgainst(world, set, resolve(against), order));
  }
  if (flags.ratio) return runPairs(sets, measureEngineRatio);
  if (flags.growth) return runGrowth(sets, lengths);
  if (flags.sealing) return runSealing(sets);
  if (flags.profile !== undefined) return runProfile(sets, flags.profile);
  if (flags.beside) return runBeside(sets);
  const before = loadavg()[0] ?? 0;
  const world = await openWorld();
  try {
    const measured: Measured[] = [];
    for (const set of sets) measured.push(await measure(world, set, lengths));
    const machine = { at: new Date().toISOString(), node: process.versions.node, cores: availableParallelism() };
    const report: Report = { ...machine, loadAverage: [before, loadavg()[0] ?? 0], measured };
    const file = flags.json ?? `bench-${report.at.slice(0, 10)}.json`;
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
    console.log(printed(report));
    say(`wrote ${file}`);
  } finally {
    await world.close();
  }
};

try {
  await run();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = EXIT_USAGE;
}
