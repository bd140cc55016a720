import { createServer } from "node:net";
import { measureAdmission } from "./admission.ts";
import type { World } from "./bench-world.ts";
import type { EngineSet } from "./engines.ts";
import { spreadOf } from "./spread.ts";
import { close, runtimeOf, type Subject, setUp, upToDate } from "./subject.ts";
import { amount, figures, type Row } from "./table.ts";

export type Ratio = { readonly median: number; readonly min: number; readonly max: number; readonly rounds: number };

export type Beside = {
  readonly name: string;
  readonly withoutPerS: number;
  readonly withPerS: number;
  /**
   * The service with the addition to that without it: ratios of the rate, and of the work for each ms of processor
   * time.
   */
  readonly rateRatio: Ratio;
  readonly workRatio: Ratio | null;
  readonly rssWithoutMiB: number;
  readonly rssWithMiB: number;
};

type Pair = { readonly name: string; readonly without: EngineSet; readonly with: EngineSet };

const RATIO_MIN = 0.95;
const CLOSED = "http://127.0.0.1:9";

const withEnv = (set: EngineSet, env: Readonly<Record<string, string>>): EngineSet => ({
  ...set,
  async open() {
    const engines = await set.open();
    return { ...engines, env: { ...engines.env, ...env } };
  },
});

/** `folder` is another checkout, in which `npm run build` has run. */
const ofBuild = (set: EngineSet, folder: string): EngineSet => ({
  ...set,
  async open() {
    const engines = await set.open();
    // The shell gets node, its two flags and the program's file, and puts the other build's file in place of the last.
    return { ...engines, via: ["sh", "-c", `exec "$0" "$1" "$2" '${folder}/build/src/start.cjs'`] };
  },
});

const hanging = async (): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a port has a number");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
};

const median = (values: readonly number[]): number => spreadOf(values).p50;

const ratioOf = (values: readonly number[]): Ratio => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
  rounds: values.length,
});

/** Both services run all the time and are measured in turns, so that the machine's other load affects both alike. */
const measurePair = async (world: World, pair: Pair, rounds: number, seconds: number): Promise<Beside> => {
  const subjects: Subject[] = [];
  try {
    for (const set of [pair.without, pair.with]) subjects.push(await setUp(world.receiverPort, set));
    const [without, with_] = subjects as [Subject, Subject];
    const ask = async (subject: Subject) => {
      const { perS, processorMs } = await measureAdmission(world, subject, seconds);
      await upToDate(subject);
      return { perS, perMs: processorMs === null ? null : 1 / processorMs };
    };
    for (const subject of [without, with_]) await ask(subject);
    const measured = [];
    for (let round = 0; round < rounds; round += 1) {
      const first = await ask(round % 2 === 0 ? without : with_);
      const second = await ask(round % 2 === 0 ? with_ : without);
      measured.push(round % 2 === 0 ? { base: first, own: second } : { base: second, own: first });
    }
    const work = measured.flatMap(({ base, own }) =>
      base.perMs === null || own.perMs === null ? [] : [own.perMs / base.perMs],
    );
    return {
      name: pair.name,
      withoutPerS: median(measured.map(({ base }) => base.perS)),
      withPerS: median(measured.map(({ own }) => own.perS)),
      rateRatio: ratioOf(measured.map(({ base, own }) => own.perS / base.perS)),
      workRatio: work.length === 0 ? null : ratioOf(work),
      rssWithoutMiB: (await runtimeOf(without)).rssMiB,
      rssWithMiB: (await runtimeOf(with_)).rssMiB,
    };
  } finally {
    for (const subject of subjects) await close(subject);
  }
};

export type BesideOrder = {
  readonly rounds: number;
  readonly seconds: number;
  /** A folder with another build to compare with, in which case nothing else is measured; else null. */
  readonly against: string | null;
  readonly say: (text: string) => void;
};

export const measureBeside = async (world: World, set: EngineSet, order: BesideOrder): Promise<readonly Beside[]> => {
  const { rounds, seconds, against, say } = order;
  const collector = await hanging();
  const to = (url: string): EngineSet => withEnv(set, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const away: readonly Pair[] = [
    { name: "traces, to a collector that is not there", without: set, with: to(CLOSED) },
    { name: "traces, to a collector that hangs", without: set, with: to(collector.url) },
    {
      name: "log lines, LOG_LEVEL info",
      without: withEnv(set, { LOG_LEVEL: "silent" }),
      with: withEnv(set, { LOG_LEVEL: "info" }),
    },
  ];
  const pairs =
    against === null
      ? away
      : [{ name: `this build, compared with ${against}`, without: ofBuild(set, against), with: set }];
  try {
    const measured: Beside[] = [];
    for (const pair of pairs) {
      say(pair.name);
      measured.push(await measurePair(world, pair, rounds, seconds));
    }
    return measured;
  } finally {
    collector.close();
  }
};

const ratio = (name: string, { median, min, max, rounds }: Ratio): Row => ({
  name,
  value: `${amount(median)} x (${amount(min)} to ${amount(max)} in ${rounds} rounds)`,
  bar: `at least ${RATIO_MIN} x`,
  isMet: median >= RATIO_MIN,
});

export const besideTable = (measured: readonly Beside[]): string =>
  figures(
    measured.flatMap((it) => [
      { name: it.name, value: `${amount(it.withPerS)}/s, without ${amount(it.withoutPerS)}/s` },
      ratio("   rate", it.rateRatio),
      ...(it.workRatio === null ? [] : [ratio("   admissions of a processor's time", it.workRatio)]),
      { name: "   RSS", value: `${amount(it.rssWithMiB)} MiB, without ${amount(it.rssWithoutMiB)} MiB` },
    ]),
  );
