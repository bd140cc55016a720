import type { World } from "./bench-world.ts";
import { bytesOfBoth, databaseBytes } from "./disk.ts";
import type { EngineSet } from "./engines.ts";
import { medianOf, type Ratio, ratioOf } from "./spread.ts";
import { close, runtimeOf, type Subject, setUp } from "./subject.ts";
import { amount, figures, microseconds, type Row } from "./table.ts";
import type { Cost, Workload } from "./workloads.ts";

export type Pair = {
  readonly name: string;
  readonly without: EngineSet;
  readonly with: EngineSet;
  barsOf(workload: Workload): Bars;
  /** Target for the ratio with/without of bytes on disk; null for none. */
  readonly diskMax: number | null;
};

/** Targets for the ratio with/without; null for none. */
export type Bars = { readonly rateMin: number | null; readonly processorMax: number | null };

export type Round = { readonly without: Cost; readonly with: Cost };

export type Compared = {
  readonly name: string;
  readonly bars: Bars;
  readonly without: Medians;
  readonly with: Medians;
  /** Null for an open loop, whose rate is given. */
  readonly rate: Ratio | null;
  /** Null on a system that does not tell processor times. */
  readonly processor: Ratio | null;
};

type Medians = { readonly perS: number; readonly processorMs: number | null };

export type PairOutcome = {
  readonly name: string;
  readonly compared: readonly Compared[];
  readonly rssWithoutMiB: number;
  readonly rssWithMiB: number;
  readonly disk: Disk | null;
};

/**
 * Bytes of the log and the views for one event. Null where several workloads were measured, whose events differ in size
 * and whose numbers depend on the speed.
 */
type Disk = { readonly without: number; readonly with: number; readonly max: number | null };

const mediansOf = (costs: readonly Cost[]): Medians => {
  const ms = costs.flatMap(({ processorMs }) => (processorMs === null ? [] : [processorMs]));
  return {
    perS: medianOf(costs.map(({ perS }) => perS)),
    processorMs: ms.length === 0 ? null : medianOf(ms),
  };
};

export const comparedOf = (workload: Workload, bars: Bars, rounds: readonly Round[]): Compared => {
  const processor = rounds.flatMap((round) => {
    const [without, own] = [round.without.processorMs, round.with.processorMs];
    return without === null || own === null ? [] : [own / without];
  });
  const rate = rounds.map((round) => round.with.perS / round.without.perS);
  return {
    name: workload.name,
    bars,
    without: mediansOf(rounds.map(({ without }) => without)),
    with: mediansOf(rounds.map((round) => round.with)),
    rate: workload.rate === null ? ratioOf(rate) : null,
    processor: processor.length === 0 ? null : ratioOf(processor),
  };
};

export type TurnsOrder = {
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
  readonly say: (text: string) => void;
};

const measureRound = async (
  measure: (subject: Subject) => Promise<Cost>,
  subjects: readonly [Subject, Subject],
  round: number,
): Promise<Round> => {
  const [without, own] = subjects;
  if (round % 2 === 0) {
    const first = await measure(without);
    return { without: first, with: await measure(own) };
  }
  const first = await measure(own);
  return { without: await measure(without), with: first };
};

const bytesPerEvent = async ({ program }: Subject, costs: readonly Cost[]): Promise<number | null> => {
  // SQLite empties the write-ahead logs when the last connection is closed.
  await program.stop();
  const bytes = bytesOfBoth({
    log: databaseBytes(program.dir, "log.db"),
    views: databaseBytes(program.dir, "views.db"),
  });
  const events = costs.reduce((sum, cost) => sum + cost.events, 0);
  return bytes === null ? null : bytes / events;
};

const diskOf = async (
  pair: Pair,
  subjects: readonly [Subject, Subject],
  all: readonly Round[],
): Promise<Disk | null> => {
  const [first, second] = subjects;
  const without = await bytesPerEvent(
    first,
    all.map((round) => round.without),
  );
  const own = await bytesPerEvent(
    second,
    all.map((round) => round.with),
  );
  return without === null || own === null ? null : { without, with: own, max: pair.diskMax };
};

/**
 * After so many events V8 has compiled what is hot. Until then compiling takes up to as much processor time as the
 * program itself, and a slow machine would need dozens of rounds to get there.
 */
const WARM_EVENTS = 6_000;

const fewestEvents = (rounds: readonly Round[]): number =>
  Math.min(
    rounds.reduce((sum, { without }) => sum + without.events, 0),
    rounds.reduce((sum, round) => sum + round.with.events, 0),
  );

/** Both services run all the time and are measured in turns, so that the machine's other load affects both alike. */
export const measurePair = async (world: World, pair: Pair, order: TurnsOrder): Promise<PairOutcome> => {
  const { workloads, rounds, seconds, say } = order;
  const subjects: Subject[] = [];
  try {
    for (const set of [pair.without, pair.with]) subjects.push(await setUp(world.receiverPort, set));
    const both = subjects as [Subject, Subject];
    const [without, own] = both;
    const measureAll = async (round: number): Promise<readonly Round[]> => {
      const outcomes: Round[] = [];
      for (const workload of workloads)
        outcomes.push(await measureRound((subject) => workload.measure(world, subject, seconds), both, round));
      return outcomes;
    };
    say(`${pair.name}: warming up`);
    const all: Round[] = [];
    while (fewestEvents(all) < WARM_EVENTS) all.push(...(await measureAll(all.length)));
    const measured = workloads.map((workload) => ({ workload, rounds: [] as Round[] }));
    for (let round = 0; round < rounds; round += 1) {
      say(`round ${round + 1} of ${rounds}`);
      const outcomes = await measureAll(round);
      for (const [index, outcome] of outcomes.entries()) measured[index]?.rounds.push(outcome);
      all.push(...outcomes);
    }
    const [rssWithoutMiB, rssWithMiB] = [(await runtimeOf(without)).rssMiB, (await runtimeOf(own)).rssMiB];
    return {
      name: pair.name,
      compared: measured.map(({ workload, rounds: done }) => comparedOf(workload, pair.barsOf(workload), done)),
      rssWithoutMiB,
      rssWithMiB,
      disk: workloads.length === 1 ? await diskOf(pair, both, all) : null,
    };
  } finally {
    for (const subject of subjects) await close(subject);
  }
};

const ratioRow = (name: string, { median, min, max, rounds }: Ratio): Row => ({
  name,
  value: `${amount(median)} x (${amount(min)} to ${amount(max)}, ${rounds} rounds)`,
});

const linesOf = ({ name, bars, without, with: own, rate, processor }: Compared): Row[] => {
  const { rateMin, processorMax } = bars;
  const rows: Row[] = [{ name, value: `${amount(own.perS)}/s, without ${amount(without.perS)}/s` }];
  if (own.processorMs !== null && without.processorMs !== null) {
    const value = `${microseconds(own.processorMs)}, without ${microseconds(without.processorMs)}`;
    rows.push({ name: "   processor time of one", value });
  }
  if (processor !== null) {
    const row = ratioRow("   processor time, ratio", processor);
    const isMet = processorMax === null ? undefined : processor.median <= processorMax;
    rows.push(isMet === undefined ? row : { ...row, bar: `at most ${processorMax} x`, isMet });
  }
  if (rate !== null) {
    const row = ratioRow("   rate, ratio", rate);
    const isMet = rateMin === null ? undefined : rate.median >= rateMin;
    rows.push(isMet === undefined ? row : { ...row, bar: `at least ${rateMin} x`, isMet });
  }
  return rows;
};

const diskRow = ({ without, with: own, max }: Disk): Row => {
  const ratio = own / without;
  const name = "bytes on disk an event";
  const value = `${amount(own)}, without ${amount(without)}: ${amount(ratio)} x`;
  return max === null ? { name, value } : { name, value, bar: `at most ${max} x`, isMet: ratio <= max };
};

export const pairTable = ({ name, compared, rssWithMiB, rssWithoutMiB, disk }: PairOutcome): string =>
  figures([
    { name, value: "" },
    ...compared.flatMap(linesOf),
    { name: "RSS", value: `${amount(rssWithMiB)} MiB, without ${amount(rssWithoutMiB)} MiB` },
    ...(disk === null ? [] : [diskRow(disk)]),
  ]);
