import { randomBytes } from "node:crypto";
import { Kafka, logLevel } from "kafkajs";
import { type Places, placesOf } from "../../src/engines.ts";
import { startEventStoreDouble } from "./eventstore-double/server.ts";
import { freshDatabase } from "./mongodb.ts";

/** What the program is started with so that it keeps its state in one set of engines, fresh and of its own. */
export type Engines = {
  readonly env: Readonly<Record<string, string>>;
  /** Removes what the set has made. */
  close(): Promise<void>;
};

/** Where a program that is started with them keeps its log and its views; the directory is of no interest to servers. */
export const placesIn = ({ env }: Engines, dataDir: string): Places =>
  placesOf({ dataDir, eventstoreUrl: env.EVENTSTORE_URL ?? null, mongodbUrl: env.MONGODB_URL ?? null });

export type EngineSet = { readonly name: string; open(): Promise<Engines> };

const embedded: EngineSet = { name: "embedded", open: async () => ({ env: {}, close: async () => undefined }) };

/** The servers that the environment names; the double stands in for EventStoreDB where it names none. */
const servers = (mongodbUrl: string, brokers: string | undefined): EngineSet => ({
  name: "EventStoreDB, MongoDB and Kafka",
  async open() {
    const name = `countersign_test_${randomBytes(6).toString("hex")}`;
    const database = freshDatabase(mongodbUrl);
    const double = process.env.EVENTSTORE_URL === undefined ? await startEventStoreDouble() : null;
    const topic = brokers === undefined ? null : await newTopic(brokers, name);
    return {
      env: {
        EVENTSTORE_URL: double?.url ?? String(process.env.EVENTSTORE_URL),
        MONGODB_URL: database.url,
        ...(topic === null ? {} : { KAFKA_BROKERS: topic.brokers, KAFKA_TOPIC: topic.name }),
        // One for all tests: a log that is not the double's outlives them.
        COUNTERSIGN_KEY: Buffer.alloc(32, "countersign tests").toString("base64"),
      },
      async close() {
        await database.drop();
        await topic?.remove();
        await double?.stop();
      },
    };
  },
});

const newTopic = async (brokers: string, name: string) => {
  const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 3 }], waitForLeaders: true });
  return {
    name,
    brokers,
    async remove() {
      await admin.deleteTopics({ topics: [name] });
      await admin.disconnect();
    },
  };
};

/** What several nodes can share, where there is a MongoDB; null where there is none, and says so. */
export const sharedEngines = (what: string): EngineSet | null => {
  const { MONGODB_URL, KAFKA_BROKERS } = process.env;
  if (MONGODB_URL === undefined) {
    console.log(`SKIPPED: ${what} is not tested: MONGODB_URL is not set`);
    return null;
  }
  if (KAFKA_BROKERS === undefined) console.log("SKIPPED: the feed to Kafka is not tested: KAFKA_BROKERS is not set");
  return servers(MONGODB_URL, KAFKA_BROKERS);
};

/** The embedded engines, and the servers where there is a MongoDB; a set that is left out is named. */
export const engineSets = (): readonly EngineSet[] => {
  const shared = sharedEngines("the program on EventStoreDB, MongoDB and Kafka");
  return shared === null ? [embedded] : [embedded, shared];
};
