import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Config, ConfigError, readConfig } from "../../src/config.ts";
import { openLog } from "../../src/engines.ts";
import { dropDatabase, type EngineSet, type Engines, newTopic } from "../../test/support/engine-sets.ts";
import { databaseBeside } from "./database-beside.ts";

/** Engines to be measured, each time with state of their own, and what a reader of the figures has to know of them. */
export type MeasuredEngines = EngineSet & { readonly notes: readonly string[] };

export type EngineFlags = {
  /** Those of the environment instead of the embedded ones. */
  readonly engines: boolean;
  /** With the double in EventStoreDB's place. */
  readonly double: boolean;
  /** Both, one after the other. */
  readonly embedded: boolean;
  /** Also a log that holds something already. */
  readonly yes: boolean;
};

type Env = Readonly<Record<string, string | undefined>>;

const DOUBLE = new URL("../../test/support/eventstore-double/main.js", import.meta.url).pathname;
const DOUBLE_NOTE =
  "The log is a double of EventStoreDB in memory, a process of its own: its figures say what this code costs over the protocol, not what EventStoreDB does.";
const KEPT_NOTE = "EventStoreDB has no databases to drop: the log keeps the records of this run.";
const NOT_EMPTY =
  "The log at EVENTSTORE_URL is not empty, and it would keep the records of the benchmark for good: give --yes if that may be, and never for a log in production.";
const NONE_SET =
  "--engines measures the engines that EVENTSTORE_URL, MONGODB_URL and KAFKA_BROKERS name, and none of them is set.";
const TWO_LOGS = "--double takes the place of EventStoreDB, and EVENTSTORE_URL names one: give one of the two.";

export const EMBEDDED: MeasuredEngines = {
  name: "embedded",
  notes: [],
  open: async () => ({ env: {}, close: async () => undefined }),
};

const doubles = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of doubles) child.kill("SIGKILL");
});

const startDouble = async (): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const child = spawn(process.execPath, [DOUBLE], { stdio: ["ignore", "pipe", "inherit"] });
  doubles.add(child);
  const ended = once(child, "exit").finally(() => doubles.delete(child));
  const started = async (): Promise<string> => {
    let printed = "";
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      printed += String(chunk);
      const url = /esdb:\/\/\S+/.exec(printed)?.[0];
      if (url !== undefined) return url;
    }
    throw new Error(`the double of EventStoreDB did not start: ${printed}`);
  };
  const url = await started();
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

const isEmpty = async (url: string): Promise<boolean> => {
  const log = await openLog({ engine: "eventstoredb", url }, { readOnly: true });
  try {
    return (await log.head()) === null;
  } finally {
    await log.close();
  }
};

/** A database and a topic of its own for each opening, and the double as well: nothing is measured on what is left of another. */
const open = async ({ eventstoreUrl, mongodbUrl, kafka, key }: Config, flags: EngineFlags): Promise<Engines> => {
  const suffix = `bench_${randomBytes(6).toString("hex")}`;
  const database = mongodbUrl === null ? null : databaseBeside(mongodbUrl, suffix);
  const topic = kafka === null ? null : await newTopic(kafka.brokers.join(","), `${kafka.topic}.${suffix}`);
  const double = flags.double ? await startDouble() : null;
  const log = double?.url ?? eventstoreUrl;
  return {
    env: {
      ...(log === null ? {} : { EVENTSTORE_URL: log }),
      ...(database === null ? {} : { MONGODB_URL: database }),
      ...(topic === null ? {} : { KAFKA_BROKERS: topic.brokers, KAFKA_TOPIC: topic.name }),
      COUNTERSIGN_KEY: key ?? randomBytes(32).toString("base64"),
    },
    async close() {
      if (database !== null) await dropDatabase(database);
      await topic?.remove();
      await double?.stop();
    },
  };
};

const configured = async (env: Env, flags: EngineFlags): Promise<MeasuredEngines> => {
  const { EVENTSTORE_URL, MONGODB_URL, KAFKA_BROKERS, KAFKA_TOPIC, COUNTERSIGN_KEY } = env;
  const config = readConfig({ EVENTSTORE_URL, MONGODB_URL, KAFKA_BROKERS, KAFKA_TOPIC, COUNTERSIGN_KEY });
  const { eventstoreUrl, mongodbUrl, kafka } = config;
  if (flags.double && eventstoreUrl !== null) throw new ConfigError(TWO_LOGS);
  if (!flags.double && eventstoreUrl === null && mongodbUrl === null && kafka === null) throw new ConfigError(NONE_SET);
  if (eventstoreUrl !== null && !flags.yes && !(await isEmpty(eventstoreUrl))) throw new ConfigError(NOT_EMPTY);
  const notes = [...(flags.double ? [DOUBLE_NOTE] : []), ...(eventstoreUrl === null ? [] : [KEPT_NOTE])];
  return { name: "configured", notes, open: () => open(config, flags) };
};

/** What is to be measured, in this order. Throws `ConfigError` with a sentence when the flags ask for what is not there. */
export const enginesToMeasure = async (env: Env, flags: EngineFlags): Promise<readonly MeasuredEngines[]> => {
  if (!flags.engines && !flags.double) return [EMBEDDED];
  const wanted = await configured(env, flags);
  return flags.embedded ? [EMBEDDED, wanted] : [wanted];
};
