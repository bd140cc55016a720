import { type EngineLocations, locationsOf } from "../../src/engine/open-engines.ts";
import { startEventStoreDouble } from "./eventstore-double/server.ts";
import { testBrokers, testTopic } from "./kafka.ts";
import { freshDatabase, mongodbServer } from "./mongodb.ts";

/** What the program is started with so that it keeps its state in one set of engines, fresh and of its own. */
export type Engines = {
  readonly env: Readonly<Record<string, string>>;
  /** Removes what the set has made. */
  close(): Promise<void>;
};

/** Where a program that is started with them keeps its log and its views; the directory is of no interest to servers. */
export const locationsIn = ({ env }: Engines, dataDir: string): EngineLocations =>
  locationsOf({ dataDir, eventstoreUrl: env.EVENTSTORE_URL ?? null, mongodbUrl: env.MONGODB_URL ?? null });

export type EngineSet = { readonly name: string; open(): Promise<Engines> };

const embedded: EngineSet = { name: "embedded", open: async () => ({ env: {}, close: async () => undefined }) };

/** The servers that the environment names; the double stands in for EventStoreDB where it names none. */
const servers = (mongodbUrl: string, brokers: readonly string[] | null): EngineSet => ({
  name: "EventStoreDB, MongoDB and Kafka",
  async open() {
    const database = freshDatabase(mongodbUrl);
    const double = process.env.EVENTSTORE_URL === undefined ? await startEventStoreDouble() : null;
    const topic = brokers === null ? null : await testTopic(brokers);
    return {
      env: {
        EVENTSTORE_URL: double?.url ?? String(process.env.EVENTSTORE_URL),
        MONGODB_URL: database.url,
        ...(topic === null ? {} : { KAFKA_BROKERS: topic.brokers.join(","), KAFKA_TOPIC: topic.name }),
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

/** Engines that several nodes can share; without a MongoDB it is null, and the tests of `what` count as skipped. */
export const sharedEngines = (what: string): EngineSet | null => {
  const mongodbUrl = mongodbServer(what);
  return mongodbUrl === null ? null : servers(mongodbUrl, testBrokers("the feed to Kafka"));
};

/** The embedded engines, and the servers if there is a MongoDB: without one the tests of that set count as skipped. */
export const engineSets = (): readonly EngineSet[] => {
  const shared = sharedEngines("the program on EventStoreDB, MongoDB and Kafka");
  return shared === null ? [embedded] : [embedded, shared];
};
