import type { World } from "./bench-world.ts";
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
};

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

/** Both services run all the time and are measured in turns, so that the machine's other load affects both alike. */
export const measurePair = async (world: World, pair: Pair, order: TurnsOrder): Promise<PairOutcome> => {
  const { workloads, rounds, seconds, say } = order;
  const subjects: Subject[] = [];
  try {
    for (const set of [pair.without, pair.with]) subjects.push(await setUp(world.receiverPort, set));
    const both = subjects as [Subject, Subject];
    const [without, own] = both;
    const measured = workloads.map((workload) => ({ workload, rounds: [] as Round[] }));
    for (let round = -1; round < rounds; round += 1) {
      say(round < 0 ? `${pair.name}: warming up` : `round ${round + 1} of ${rounds}`);
      for (const { workload, rounds: done } of measured) {
        const outcome = await measureRound((subject) => workload.measure(world, subject, seconds), both, round);
        if (round >= 0) done.push(outcome);
      }
    }
    return {
      name: pair.name,
      compared: measured.map(({ workload, rounds: done }) => comparedOf(workload, pair.barsOf(workload), done)),
      rssWithoutMiB: (await runtimeOf(without)).rssMiB,
      rssWithMiB: (await runtimeOf(own)).rssMiB,
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

export const pairTable = ({ name, compared, rssWithMiB, rssWithoutMiB }: PairOutcome): string =>
  figures([
    { name, value: "" },
    ...compared.flatMap(linesOf),
    { name: "RSS", value: `${amount(rssWithMiB)} MiB, without ${amount(rssWithoutMiB)} MiB` },
  ]);
