import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { defined } from "../../domain/defined.ts";
import { formatSignerKey } from "../../domain/evidence/signed-note.ts";
import { createSecretFile } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { ConfigError } from "../../src/config-error.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { makeSigningKey } from "../../src/sealing/signing-key.ts";
import { testTopic } from "../../test/support/kafka.ts";
import { databaseBeside } from "./database-beside.ts";

export type Engines = {
  readonly env: Readonly<Record<string, string>>;
  /** A checkout whose build is measured, in which `npm run build` has run; undefined for this one. */
  readonly checkout?: string;
  /** More flags for node. */
  readonly flags?: readonly string[];
  close(): Promise<void>;
};

/** `open` gives the engines fresh state each time. */
export type EngineSet = { readonly name: string; readonly notes: readonly string[]; open(): Promise<Engines> };

export type EngineFlags = {
  readonly engines: boolean;
  readonly double: boolean;
  readonly embedded: boolean;
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

export const EMBEDDED: EngineSet = {
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

const dropDatabase = async (url: string): Promise<void> => {
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
};

/** Each call makes a database, a topic and a double of its own, so that nothing earlier is measured. */
const open = async (config: Config, flags: EngineFlags): Promise<Engines> => {
  const { kafka, key } = config;
  const suffix = `bench_${randomBytes(6).toString("hex")}`;
  const mongodbUrl = config.mongodbUrl === null ? null : databaseBeside(config.mongodbUrl, suffix);
  const topic = kafka === null ? null : await testTopic(kafka.brokers);
  const double = flags.double ? await startDouble() : null;
  const eventstoreUrl = double?.url ?? config.eventstoreUrl;
  const folder = mkdtempSync(join(tmpdir(), "countersign-bench-audit-"));
  const auditKeyFile = join(folder, "audit-key");
  createSecretFile(auditKeyFile, formatSignerKey(makeSigningKey("localhost", randomness)), randomness);
  return {
    env: defined({
      EVENTSTORE_URL: eventstoreUrl ?? undefined,
      MONGODB_URL: mongodbUrl ?? undefined,
      KAFKA_BROKERS: topic?.brokers.join(","),
      KAFKA_TOPIC: topic?.name,
      COUNTERSIGN_KEY: key ?? randomBytes(32).toString("base64"),
      AUDIT_KEY_FILE: auditKeyFile,
    }),
    async close() {
      if (mongodbUrl !== null) await dropDatabase(mongodbUrl);
      await topic?.remove();
      await double?.stop();
      rmSync(folder, { recursive: true });
    },
  };
};

const configured = async (env: Env, flags: EngineFlags): Promise<EngineSet> => {
  const { EVENTSTORE_URL, MONGODB_URL, KAFKA_BROKERS, KAFKA_TOPIC, COUNTERSIGN_KEY } = env;
  // The benchmark makes a signing key of its own.
  const AUDIT_KEY_FILE = "made later";
  const servers = { EVENTSTORE_URL, MONGODB_URL, KAFKA_BROKERS, KAFKA_TOPIC };
  const config = readConfig({ ...servers, COUNTERSIGN_KEY, AUDIT_KEY_FILE });
  const { eventstoreUrl, mongodbUrl, kafka } = config;
  if (flags.double && eventstoreUrl !== null) throw new ConfigError(TWO_LOGS);
  if (!flags.double && eventstoreUrl === null && mongodbUrl === null && kafka === null) throw new ConfigError(NONE_SET);
  if (eventstoreUrl !== null && !flags.yes && !(await isEmpty(eventstoreUrl))) throw new ConfigError(NOT_EMPTY);
  const notes = [...(flags.double ? [DOUBLE_NOTE] : []), ...(eventstoreUrl === null ? [] : [KEPT_NOTE])];
  return { name: "configured", notes, open: () => open(config, flags) };
};

/** Throws `ConfigError` if the flags ask for engines that the environment does not name. */
export const enginesToMeasure = async (env: Env, flags: EngineFlags): Promise<readonly EngineSet[]> => {
  if (!flags.engines && !flags.double) return [EMBEDDED];
  const wanted = await configured(env, flags);
  return flags.embedded ? [EMBEDDED, wanted] : [wanted];
};
